export {
  memberId,
  type GroupFacts,
  type GroupRecord,
  type MemberRank,
  type MemberRecord,
  type RequestAction,
  type StoredGroup,
} from './group-record.js';
export { ChatWriter, type KeyedMoment } from './chat-writer.js';
export { EventWriter } from './event-writer.js';
export { GroupWriter, type GroupsWritten, type RecordGroupsOptions } from './group-writer.js';
export { MessageWriter, type MessageChange, type MessagesWritten, type Written } from './message-writer.js';
export { NumberNames } from './number-names.js';
export { PictureWriter, type FoundPictures } from './picture-writer.js';
export type {
  ChatRecord,
  ChatTimer,
  ContactRecord,
  MessageRecord,
  NetworkKey,
  PersonPair,
  StoredMessage,
} from './records.js';
export { UNCONFIRMED, UNREADABLE, type StatusReport, type ReceiptStatus } from './status-ladder.js';
