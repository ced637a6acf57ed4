// timeout: 300s
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedStreamBugs } from './planted-stream-bugs.js';

const planted = findPlantedBugs('planted bugs of streams', plantedStreamBugs);

planted.run();
