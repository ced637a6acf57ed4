// timeout: 300s
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedFeedBugs } from './planted-feed-bugs.js';

const planted = findPlantedBugs('planted bugs of feeds', plantedFeedBugs);

planted.run();
