// timeout: 300s
import { suite } from 'uvu';
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedScheduleBugs } from './planted-schedule-bugs.js';

const planted = suite('planted bugs of schedules');

findPlantedBugs(planted, plantedScheduleBugs);

planted.run();
