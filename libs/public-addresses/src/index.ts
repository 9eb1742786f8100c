export {
  AddressRefused,
  guardedConnection,
  guardedConnector,
  isPlainlyNotPublic,
  isPublicAddress,
  type AddressGuardOptions,
  type AllowedAddresses,
} from './address-guard.js';
