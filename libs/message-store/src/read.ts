export { GroupReader } from './groups/group-reader.js';
export { MessageReader, type StoredEvent } from './messages/message-reader.js';
