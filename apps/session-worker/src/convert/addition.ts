import type { MessageRecord, StoredMessage } from '@dormouse/message-store/write';
import type { ReceivedAction } from './action-record.js';

/** A received message that can only be read together with the earlier message that it belongs to. */
export interface Addition {
  /** The network's id of the earlier message, and the chat of both. */
  target: { keyId: string; chatId: string };
  /**
   * Reads the addition.
   * @param target the earlier message as it is stored; undefined when it is not stored
   */
  read: (target: StoredMessage | undefined) => ReadAddition | undefined;
}

/** What an addition is: a message of its own (`record`), or a change of the earlier one (`action`). */
export interface ReadAddition {
  record?: MessageRecord;
  action?: ReceivedAction;
  /** The earlier message with the new file, which is downloaded if the channel's settings want files of this type. */
  file?: MessageRecord;
}
