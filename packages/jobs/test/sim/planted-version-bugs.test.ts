// timeout: 300s
import { suite } from 'uvu';
import { findPlantedBugs } from './find-planted-bugs.js';
import { plantedVersionBugs } from './planted-version-bugs.js';

const planted = suite('planted version bugs');

findPlantedBugs(planted, plantedVersionBugs);

planted.run();
