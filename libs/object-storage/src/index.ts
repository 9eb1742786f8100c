export { attachmentHeader } from './attachment-header.js';
export { isObjectFailure, ObjectStorageError, type ObjectStorageFailure } from './object-storage-error.js';
export {
  LONGEST_LINK_S,
  ObjectStorage,
  type ByteRange,
  type ObjectBody,
  type ObjectFacts,
  type ObjectStorageOptions,
  type PutOptions,
  type StoredObject,
} from './object-storage.js';
