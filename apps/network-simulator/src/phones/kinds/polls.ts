import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { z } from 'zod';
import { Refusal } from '../../network/refusal.js';
import { decodeContent } from '../content.js';
import { pollOptions } from '../poll-options.js';
import { optionHash } from '../sealed.js';
import { keyOf, kind, sealFor, storedMessage, type Composed } from './kind.js';

const FORMS = [1, 2, 3, 4, 5] as const;
type Form = (typeof FORMS)[number];

/** Fields of polls that the library has no name for yet, by their numbers in the protocol of the web client. */
const END_TIME = 9;
const HIDE_NAMES = 10;
const ADD_OPTIONS = 11;
/** Field of the fifth form in a message. */
const FIFTH_FORM = 111;
const VARINT = 0;
const BYTES = 2;
const tag = (field: number, type: number): number => field * 8 + type;

/** Polls and votes. */
export const pollKinds = {
  poll: kind(
    z.object({
      name: z.string(),
      options: z.array(z.string()).min(1),
      selectable: z.number().int().min(0).default(1).describe('How many options a vote may choose; 0: any number.'),
      form: z.literal(FORMS).default(3).describe('Which field of the protocol holds it: phones of today use 5.'),
      hideVotes: z.boolean().default(false).describe('Nobody sees who voted for what. Form 5.'),
      addOptions: z.boolean().default(false).describe('Others may add options. Form 5.'),
      endsAt: z.iso.datetime({ offset: true }).optional().describe('Form 5.'),
    }),
    ({ name, options, selectable, form, hideVotes, addOptions, endsAt }, { contextInfo }): Composed => {
      const poll = {
        name,
        options: options.map((optionName) => ({ optionName })),
        selectableOptionsCount: selectable,
        contextInfo,
      };
      if (!hideVotes && !addOptions && endsAt === undefined) return { content: formed(form, poll) };
      if (form !== 5) throw new Refusal(400, 'poll.form: only 5 has hideVotes, addOptions and endsAt.');
      const fifth = proto.Message.PollCreationMessage.encode(poll);
      if (endsAt !== undefined) fifth.uint32(tag(END_TIME, VARINT)).int64(Date.parse(endsAt));
      if (hideVotes) fifth.uint32(tag(HIDE_NAMES, VARINT)).bool(true);
      if (addOptions) fifth.uint32(tag(ADD_OPTIONS, VARINT)).bool(true);
      const bytes = proto.Message.encode({}).uint32(tag(FIFTH_FORM, BYTES)).bytes(fifth.finish()).finish();
      return { content: formed(5, poll), bytes: Buffer.from(bytes) };
    },
  ),
  vote: kind(z.object({ id: z.string(), options: z.array(z.string()) }), ({ id, options }, { phone, chat }) => {
    const poll = storedMessage(phone, id);
    const offered = pollOptions(decodeContent(poll.content));
    if (offered.length === 0) throw new Refusal(400, 'That message is no poll.');
    const unknown = options.find((option) => !offered.includes(option));
    if (unknown !== undefined) throw new Refusal(400, `The poll has no option ${unknown}.`);
    const plain = proto.Message.PollVoteMessage.encode({ selectedOptions: options.map(optionHash) }).finish();
    return {
      content: {
        pollUpdateMessage: {
          pollCreationMessageKey: keyOf(phone, poll, chat),
          vote: sealFor({ phone, chat }, poll, 'Poll Vote', plain),
          senderTimestampMs: phone.network.now(),
        },
      },
    };
  }),
};

function formed(form: Form, poll: proto.Message.IPollCreationMessage): proto.IMessage {
  switch (form) {
    case 1:
      return { pollCreationMessage: poll };
    case 2:
      return { pollCreationMessageV2: poll };
    case 3:
      return { pollCreationMessageV3: poll };
    case 4:
      return { pollCreationMessageV4: { message: { pollCreationMessage: poll } } };
    case 5:
      return { pollCreationMessageV5: poll };
  }
}
