export {
  memberId,
  type GroupFacts,
  type GroupRecord,
  type MemberRank,
  type MemberRecord,
  type StoredGroup,
} from './group-record.js';
export { GroupWriter, type GroupsWritten, type RecordGroupsOptions } from './group-writer.js';
export { MessageWriter, type MessageChange, type MessagesWritten, type Written } from './message-writer.js';
export type { ChatRecord, ContactRecord, MessageRecord, NetworkKey, StoredMessage } from './records.js';
export type { StatusReport, ReceiptStatus } from './status-ladder.js';
