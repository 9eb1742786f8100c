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
  read: (target: StoredMessage | undefined) => { record?: MessageRecord; action?: HeardAction } | undefined;
}
