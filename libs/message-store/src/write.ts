export {
  memberId,
  type GroupFacts,
  type GroupRecord,
  type MemberRank,
  type MemberRecord,
  type RequestAction,
  type StoredGroup,
} from './groups/group-record.js';
export { ChatWriter, type KeyedMoment } from './chats/chat-writer.js';
export { EventWriter } from './events/event-writer.js';
export { GroupWriter, type GroupsWritten, type RecordGroupsOptions } from './groups/group-writer.js';
export { MessageWriter, type MessageChange, type MessagesWritten, type Written } from './messages/message-writer.js';
export { NumberNames } from './people/number-names.js';
export { PictureWriter, type FoundPictures } from './people/picture-writer.js';
export type {
  ChatRecord,
  ChatTimer,
  ContactRecord,
  MessageRecord,
  NetworkKey,
  PersonPair,
  StoredMessage,
} from './records.js';
export { UNCONFIRMED, UNREADABLE, type StatusReport, type ReceiptStatus } from './statuses/status-ladder.js';
export { eraseContents, FIRST_PLACE, type ErasePlace } from './retention/erased-contents.js';
export { oldestMessages, removeOldMessages, type Removed, type TooOld } from './retention/old-messages.js';
export { removeOldRest, type RestRemoved } from './retention/old-rest.js';
export { purgeStored } from './retention/purge-channel.js';
