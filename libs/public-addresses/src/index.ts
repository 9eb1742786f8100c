export { addressBlock } from './address-block.js';
export {
  AddressRefused,
  guardedConnection,
  guardedConnector,
  isPlainlyNotPublic,
  isPublicAddress,
  type AddressGuardOptions,
  type AllowedAddresses,
} from './address-guard.js';
