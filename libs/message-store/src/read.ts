export { GroupReader } from './groups/group-reader.js';
export { exportPage } from './messages/export-page.js';
export { MessageReader, type StoredEvent } from './messages/message-reader.js';
