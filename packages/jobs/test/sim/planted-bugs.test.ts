// timeout: 300s
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedBugs } from './planted-bugs.js';

const planted = findPlantedBugs('planted bugs', plantedBugs);

planted.run();
