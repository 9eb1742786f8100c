import { z } from 'zod';
import type { LoginCode, Success } from './channel.js';
import { sendTextBody, type SentMessage } from './messages.js';

/** One thing that can be said to a channel. */
export interface CommandSpec<Input extends z.ZodType, Result> {
  readonly input: Input;
  /** Does the handler need the open socket, or only the session's machine? */
  readonly session: 'open' | 'none';
  /** A worker that has not started it by then never does. */
  readonly startWithinMs: number;
  /** The caller waits this long from its call; always later than the start. */
  readonly answerWithinMs: number;
  /** Time the input itself asks for (a typing indicator), added to `answerWithinMs`. */
  readonly lasts: (input: z.output<Input>) => number;
  /** Never set: carries the type of the answer. */
  readonly result?: Result;
}

interface CommandOptions<Input extends z.ZodType> {
  input: Input;
  session?: 'open' | 'none';
  startWithinMs?: number;
  answerWithinMs?: number;
  lasts?: (input: z.output<Input>) => number;
}

const command =
  <Result>() =>
  <Input extends z.ZodType>(options: CommandOptions<Input>): CommandSpec<Input, Result> => ({
    session: 'open',
    startWithinMs: 20_000,
    answerWithinMs: 45_000,
    lasts: () => 0,
    ...options,
  });

const nothing = z.object({});

/** Every command, by name. A name without a handler does not compile in the session worker. */
export const COMMANDS = {
  'messages.sendText': command<SentMessage>()({
    input: sendTextBody,
    lasts: ({ typing_time: typingTimeS }) => (typingTimeS ?? 0) * 1_000,
  }),
  'channel.loginCode': command<LoginCode>()({ input: nothing, session: 'none' }),
  'channel.logout': command<Success>()({ input: nothing, session: 'none' }),
  /** The channel is gone: unlink it from the phone and forget its session. */
  'channel.delete': command<Success>()({ input: nothing, session: 'none' }),
} as const;

export type CommandName = keyof typeof COMMANDS;
export type CommandInput<Name extends CommandName> = z.output<(typeof COMMANDS)[Name]['input']>;
export type CommandResult<Name extends CommandName> = NonNullable<(typeof COMMANDS)[Name]['result']>;

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}
