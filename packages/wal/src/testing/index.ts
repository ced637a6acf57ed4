export {
  type Fault,
  FaultyStorage,
  type FaultyStorageOptions,
  type StorageCall,
  type StorageOperation,
} from './faulty-storage.js';
export { ManualHost } from './manual-host.js';
export { SeededRandom } from './seeded-random.js';
export { SimulatedDisk } from './simulated-disk.js';
export { PERSISTENCE_MODELS, type PersistenceModel, SimulatedFile } from './simulated-file.js';
