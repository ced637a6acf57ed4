// timeout: 300s
import { suite } from 'uvu';
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedStreamBugs } from './planted-stream-bugs.js';

const planted = suite('planted bugs of streams');

findPlantedBugs(planted, plantedStreamBugs);

planted.run();
