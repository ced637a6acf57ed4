export {
  type Fault,
  FaultyStorage,
  type FaultyStorageOptions,
  type StorageCall,
  type StorageOperation,
} from './faulty-storage.js';
export { ManualWalHost } from './manual-wal-host.js';
export { SimulatedDisk } from './simulated-disk.js';
export { PERSISTENCE_MODELS, type PersistenceModel, SimulatedFile } from './simulated-file.js';
