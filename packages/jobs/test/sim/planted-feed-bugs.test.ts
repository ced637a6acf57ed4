// timeout: 300s
import { suite } from 'uvu';
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedFeedBugs } from './planted-feed-bugs.js';

const planted = suite('planted bugs of feeds');

findPlantedBugs(planted, plantedFeedBugs);

planted.run();
