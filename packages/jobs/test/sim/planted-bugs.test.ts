// timeout: 300s
import { suite } from 'uvu';
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedBugs } from './planted-bugs.js';

const planted = suite('planted bugs');

findPlantedBugs(planted, plantedBugs);

planted.run();
