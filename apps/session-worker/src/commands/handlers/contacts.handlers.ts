import {
  GatewayError,
  readPhoneNumber,
  type CheckContactsBody,
  type CheckContactsResult,
  type CheckedContact,
} from '@dormouse/gateway-contract';
import type { MessageReader } from '@dormouse/message-store/read';
import type { ChatWriter, ContactRecord } from '@dormouse/message-store/write';
import { contactJid } from '../../convert/jid.js';
import type { CommandContext, Handlers } from '../command-context.js';
import type { CheckedNumbers } from '../sending/recent-numbers.js';

/** What handlers of contacts need. */
export interface ContactTools {
  readonly reader: Pick<MessageReader, 'contact'>;
  readonly chats: ChatWriter;
  readonly checkedNumbers: CheckedNumbers;
  readonly eventsReady: (channelId: string) => void;
  readonly wait: (ms: number) => Promise<void>;
}

/** Numbers per query, and the pause between two: the network takes more for harvesting. */
const BATCH = 50;
const PAUSE_MS = 250;

export function contactHandlers(tools: ContactTools): Pick<Handlers, 'contacts.check' | 'contacts.profile'> {
  return {
    'contacts.check': (context, input) => {
      context.leaveLane(); // queries keep no message waiting
      return check(context, tools, input);
    },
    'contacts.profile': async (context, { contactId }) => {
      context.leaveLane();
      const session = context.session();
      const stored = await tools.reader.contact(context.channelId, contactId);
      const id = stored?.id ?? contactId;
      if (!stored && !(await isOnNetwork(context, id))) {
        throw new GatewayError(404, { details: 'ContactID: not on the network' });
      }
      const jid = contactJid(id);
      const { people } = session.network;
      const [about, pictures] = await Promise.all([people.about(jid), people.pictures(jid)]);
      if (stored) await storeContact(context, tools, { id, about: about ?? '', ...pictures });
      return {
        name: stored?.name ?? '',
        ...(about !== undefined && { about }),
        ...(pictures.picture !== '' && { icon: pictures.picture }),
        ...(pictures.pictureFull !== '' && { icon_full: pictures.pictureFull }),
        ...(stored?.pushname !== undefined && { push_name: stored.pushname }),
      };
    },
  };
}

/** A LID that is not stored has no number to query. */
async function isOnNetwork(context: CommandContext, id: string): Promise<boolean> {
  return !id.includes('@') && (await context.session().network.people.findNumbers([id])).size > 0;
}

/** One answer for each input, in the order of the inputs; a number that is given twice is queried once. */
async function check(
  context: CommandContext,
  tools: ContactTools,
  { contacts, force_check: forced = false }: CheckContactsBody,
): Promise<CheckContactsResult> {
  const typed = contacts.map((input) => ({ input, digits: readPhoneNumber(input) }));
  const found = new Map<string, string>();
  const unchecked: string[] = [];
  for (const digits of new Set(typed.flatMap(({ digits }) => digits ?? []))) {
    const known = forced ? undefined : tools.checkedNumbers.get(digits);
    if (known === undefined) unchecked.push(digits);
    else if (known !== null) found.set(digits, known);
  }
  for (let at = 0; at < unchecked.length; at += BATCH) {
    if (at > 0) await tools.wait(PAUSE_MS);
    const batch = unchecked.slice(at, at + BATCH);
    const answer = await context.session().network.people.findNumbers(batch); // a refused query is not cached
    for (const digits of batch) {
      const id = answer.get(digits);
      tools.checkedNumbers.set(digits, id ?? null);
      if (id !== undefined) found.set(digits, id);
    }
  }
  return {
    contacts: typed.map(({ input, digits }): CheckedContact => {
      const id = digits === undefined ? undefined : found.get(digits);
      return id === undefined ? { input, status: 'invalid' } : { input, status: 'valid', wa_id: id };
    }),
  };
}

async function storeContact(context: CommandContext, tools: ContactTools, contact: ContactRecord): Promise<void> {
  const { fence } = context.session();
  const { seqs } = await tools.chats.recordContacts(fence, context.channelId, [contact]);
  if (seqs.length > 0) tools.eventsReady(context.channelId);
}
