// timeout: 300s
import { suite } from 'uvu';
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedOrderBugs } from './planted-order-bugs.js';

const planted = suite('planted bugs of order');

findPlantedBugs(planted, plantedOrderBugs);

planted.run();
