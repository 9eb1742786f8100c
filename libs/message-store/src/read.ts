export { MessageReader, type StoredEvent } from './message-reader.js';
