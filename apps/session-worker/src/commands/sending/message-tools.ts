import type { MediaReader } from '@dormouse/media-store/read';
import type { MessageReader } from '@dormouse/message-store/read';
import type { MessageWriter } from '@dormouse/message-store/write';
import type { IncomingMedia } from '../../media/incoming.js';
import type { NetworkPictures } from '../../media/network-pictures.js';
import type { OutgoingMedia } from '../../media/outgoing.js';
import type { RecipientTools } from './recipient.js';
import type { UnconfirmedIds } from './unconfirmed-sends.js';

/** What handlers of messages need. */
export interface MessageTools {
  readonly reader: Pick<MessageReader, 'chat' | 'hasShown' | 'message'>;
  /** How long messages of chats stay. */
  readonly timers: RecipientTools['timers'];
  readonly numbers: RecipientTools['numbers'];
  readonly writer: Pick<MessageWriter, 'recordMessage' | 'recordStatuses' | 'recordChange' | 'find' | 'isUnconfirmed'>;
  /** Settles sends whose outcome is unknown, so that none stays pending. */
  readonly unconfirmed: UnconfirmedIds;
  /** Notifies the dispatcher of new events. A lost signal does no harm: the dispatcher polls. */
  readonly eventsReady: (channelId: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** What handlers of files need. */
export interface MediaTools extends MessageTools {
  readonly media: {
    readonly files: Pick<MediaReader, 'file' | 'link'>;
    readonly outgoing: Pick<OutgoingMedia, 'place' | 'placeLinkPicture'>;
    readonly incoming: Pick<IncomingMedia, 'fetch'>;
    readonly pictures: Pick<NetworkPictures, 'small'>;
  };
}
