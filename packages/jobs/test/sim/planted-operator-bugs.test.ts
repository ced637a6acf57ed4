// timeout: 300s
import { suite } from 'uvu';
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedOperatorBugs } from './planted-operator-bugs.js';

const planted = suite('planted bugs of operators');

findPlantedBugs(planted, plantedOperatorBugs);

planted.run();
