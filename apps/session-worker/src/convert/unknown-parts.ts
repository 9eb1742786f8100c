/**
 * Parts of messages that are newer than this build of the library. Its decoder skips them silently, so that a message of
 * a new kind would look empty and would not be reported. Importing this file patches the decoder: on messages in which it
 * found no content, it records the numbers of the unknown parts.
 */
import { proto } from '@whiskeysockets/baileys';
import protobuf from 'protobufjs/minimal.js';
import { ACCOMPANYING, partNumbers } from './message-parts.js';

/** A symbol, as the library joins the parts of a message by `Object.assign`. */
const UNKNOWN = Symbol('parts that this build does not know');

const decode = proto.Message.decode.bind(proto.Message);
let known: ReadonlySet<number> | undefined;

proto.Message.decode = (from, length) => {
  const start = from instanceof Uint8Array ? 0 : from.pos;
  const message = decode(from, length);
  if (Object.keys(message).every((name) => ACCOMPANYING.has(name))) {
    const bytes = from instanceof Uint8Array ? from.subarray(0, length) : from.buf.subarray(start, from.pos);
    const numbers = unknownNumbers(bytes);
    if (numbers.length > 0) Reflect.set(message, UNKNOWN, numbers);
  }
  return message;
};

/** Numbers of the parts that a decoded message has and this build does not know. */
export function unknownPartsOf(message: proto.IMessage): readonly number[] {
  const numbers: unknown = Reflect.get(message, UNKNOWN);
  return Array.isArray(numbers) ? numbers.filter((each) => typeof each === 'number') : [];
}

function unknownNumbers(bytes: Uint8Array): number[] {
  known ??= partNumbers();
  const reader = protobuf.Reader.create(bytes);
  const numbers = new Set<number>();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (!known.has(tag >>> 3)) numbers.add(tag >>> 3);
    reader.skipType(tag & 7);
  }
  return [...numbers];
}
