export {
  CertificateAuthority,
  type CertificateOptions,
  type KeyAndCertificate,
} from './certificate-authority.js';
export { ManualClock } from './manual-clock.js';
export { MemoryNetwork, type MemoryNetworkOptions } from './memory-network.js';
