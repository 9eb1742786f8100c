export { MessageWriter, type MessageChange, type MessagesWritten, type Written } from './message-writer.js';
export type { ChatRecord, ContactRecord, MessageRecord, NetworkKey, StoredMessage } from './records.js';
export type { StatusReport, ReceiptStatus } from './status-ladder.js';
