export { GroupReader } from './group-reader.js';
export { MessageReader, type StoredEvent } from './message-reader.js';
