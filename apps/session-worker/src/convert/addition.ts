import type { MessageRecord, StoredMessage } from '@dormouse/message-store/write';
import type { HeardAction } from './action-record.js';

/** A heard message that can be read only with the earlier one that it belongs to. */
export interface Addition {
  /** The network's id of the message it belongs to, and the chat both are in. */
  target: { keyId: string; chatId: string };
  /**
   * Reads it.
   * @param target the message from the store; undefined when it is not there
   */
  read: (target: StoredMessage | undefined) => ReadAddition | undefined;
}

/** A message of its own, or a change of the earlier one. */
export interface ReadAddition {
  record?: MessageRecord;
  action?: HeardAction;
  /** The earlier message with the file that the change brings, to be fetched where the channel wants such files. */
  file?: MessageRecord;
}
