/**
 * Runs one command from the queue and makes its reply.
 *
 * What it guarantees: a command starts at most once and never after its `startBy`, whatever it waits for before (the lane,
 * the session's wake); 503 is the reply only if nothing was sent to the network; commands of one channel that need its
 * socket run one at a time in the order of calls, while their preparations run in parallel. A handler that throws is
 * replied to with its own `GatewayError`, with the one from the table of network errors, or with 502.
 */
import type { LogOf } from '@dormouse/bootstrap';
import type { ChannelDirectory } from '@dormouse/channel-directory';
import { FencedError, storable } from '@dormouse/database';
import {
  COMMANDS,
  GatewayError,
  isCommandName,
  parseInput,
  toErrorReply,
  type CommandInput,
  type CommandName,
} from '@dormouse/gateway-contract';
import type { CommandReply, ReceivedCommand } from '@dormouse/queues';
import { inSpan } from '@dormouse/traces';
import { errorOutline } from '../error-outline.js';
import type { OpenSession } from '../socket/open-session.js';
import type { SessionControl } from '../sessions/session-control.js';
import { notConnected } from '../sessions/session-identity.js';
import type { CommandContext, Handler, Handlers, PreparationContext } from './command-context.js';
import { Lanes, SYSTEM_CLOCK, TooLate, type LaneClock, type LaneTicket } from './lane.js';
import { RepeatedSends } from './repeated-sends.js';

/** Longest time that transmitting a message and its acknowledgement take; with less left, the caller would get no reply. */
const TRANSMIT_MS = 25_000;

/** Wait before a retry of a command that this worker is too old for. */
const UPGRADED_IN_S = 10;

/** From an edge or a control plane of a later version, during an upgrade: nothing was run, and the next worker may know it. */
function notKnownYet(what: string): GatewayError {
  return new GatewayError(503, {
    details: `the session worker is of an earlier version and does not know ${what} yet: nothing was done`,
    retryAfterS: UPGRADED_IN_S,
  });
}

export interface CommandRunnerOptions {
  readonly sessions: SessionControl & {
    open(channelId: string, deadlineMs: number): Promise<OpenSession>;
    /** The session does not fall asleep until the returned function is called. */
    keepAwake(channelId: string): () => void;
    /** Why the channel has no open socket, if one is being opened. */
    awaited(channelId: string): 'waking' | 'reconnecting' | undefined;
  };
  readonly directory: Pick<ChannelDirectory, 'byId'>;
  readonly handlers: Handlers;
  /** The error that a failure of the network means to the caller; undefined for a failure it does not know. */
  readonly networkError: (error: unknown) => GatewayError | undefined;
  readonly log: LogOf<'debug' | 'info' | 'error'>;
  readonly clock?: LaneClock;
  /** Called for every command that was replied to, with the status its caller gets. */
  readonly onAnswered?: (name: string, status: number, tookMs: number) => void;
}

export class CommandRunner {
  private readonly clock: LaneClock;
  private readonly lanes: Lanes;
  private readonly repeated: RepeatedSends;

  constructor(private readonly options: CommandRunnerOptions) {
    this.clock = options.clock ?? SYSTEM_CLOCK;
    this.lanes = new Lanes(this.clock);
    this.repeated = new RepeatedSends(() => this.clock.now());
  }

  /** Number of channels with a command that runs or waits for its turn. */
  get busyLanes(): number {
    return this.lanes.size;
  }

  /** Never rejects. */
  readonly run = (command: ReceivedCommand): Promise<CommandReply> => {
    const { channelId, sendAs } = command;
    if (sendAs === undefined) return this.answer(command);
    return this.repeated.once(channelId, sendAs, () => this.answer(command));
  };

  private async answer(command: ReceivedCommand): Promise<CommandReply> {
    const { name, channelId, requestId } = command;
    const startedMs = this.clock.now();
    const facts = { command: name, channelId, requestId };
    try {
      if (!isCommandName(name)) throw notKnownYet(name);
      if (command.revision > COMMANDS[name].revision) throw notKnownYet(`revision ${command.revision} of ${name}`);
      const result = await this.perform(name, command);
      this.noteAnswer(facts, 200, startedMs);
      return { ok: true, result };
    } catch (error) {
      const failure = this.explain(error, facts);
      this.noteAnswer(facts, failure.status, startedMs);
      return { ok: false, error: toErrorReply(failure) };
    }
  }

  /** Nothing may be awaited before the lane is entered: the command that arrived first would lose its place. */
  private async perform<Name extends CommandName>(name: Name, command: ReceivedCommand): Promise<unknown> {
    const spec = COMMANDS[name];
    // Only what can be stored is sent: an action must not fail after it was done, because of its text.
    const input = parseInput(spec.input, storable(command.input)) as CommandInput<Name>;
    const handler: Handler<Name> = this.options.handlers[name];
    if (typeof handler !== 'function')
      return this.performPrepared(command, spec, (context) => handler.prepare(context, input));
    if (spec.session === 'none') {
      const context = await this.contextOf(command);
      this.assertInTime(command.startBy);
      return handler({ ...context, session: noSession, leaveLane: () => undefined }, input);
    }
    return this.inLane(command, { startBy: command.startBy }, (context) => handler(context, input));
  }

  /** The preparation starts by `startBy`; the rest may start as long as there is time to transmit and to reply. */
  private async performPrepared(
    command: ReceivedCommand,
    spec: { startWithinMs: number; answerWithinMs: number },
    prepare: (context: PreparationContext) => Promise<(context: CommandContext) => Promise<unknown>>,
  ): Promise<unknown> {
    const { channelId, startBy } = command;
    const turnBy = Math.max(startBy, startBy - spec.startWithinMs + spec.answerWithinMs - TRANSMIT_MS);
    let session: OpenSession | undefined;
    let done = (): void => undefined;
    const openSession = async (): Promise<OpenSession> => {
      session = await this.options.sessions.open(channelId, startBy);
      done();
      done = this.options.sessions.keepAwake(channelId);
      return session;
    };
    const finished = new AbortController();
    const prepared = prepare({ channelId, openSession, signal: finished.signal }).catch((error: unknown) => {
      if (error instanceof FencedError) session?.reportFault(error);
      throw error;
    });
    prepared.catch(() => undefined); // it may fail after the command has left the lane
    try {
      return await this.inLane(command, { startBy: turnBy, prepared }, async (context) => (await prepared)(context));
    } finally {
      finished.abort(new Error('the command is over'));
      done();
    }
  }

  private async contextOf(command: ReceivedCommand) {
    const record = await this.options.directory.byId(command.channelId);
    if (!record) throw new GatewayError(404, { message: 'channel not found' });
    return {
      channelId: command.channelId,
      requestId: command.requestId,
      sendAs: command.sendAs,
      settings: record.settings,
      sessions: this.options.sessions,
      afterAnswer: (work: () => Promise<unknown>) => this.afterAnswer(command, work),
    };
  }

  /** The session stays awake meanwhile. */
  private afterAnswer(command: ReceivedCommand, work: () => Promise<unknown>): void {
    const done = this.options.sessions.keepAwake(command.channelId);
    command.afterAnswer(() => work().finally(done));
  }

  private async inLane<T>(
    command: ReceivedCommand,
    { startBy, prepared }: Pick<LaneTicket, 'startBy' | 'prepared'>,
    work: (context: CommandContext) => Promise<T>,
  ): Promise<T> {
    const { channelId, order } = command;
    const leaveLane = await inSpan('lane', {}, () =>
      this.lanes.enter(channelId, { order, startBy, prepared }).catch((error: unknown) => {
        throw this.explainTooLate(channelId, error);
      }),
    );
    let session: OpenSession | undefined;
    let done = (): void => undefined;
    try {
      session = await this.options.sessions.open(channelId, startBy);
      done = this.options.sessions.keepAwake(channelId);
      const context = await this.contextOf(command);
      this.assertInTime(startBy);
      const open = session;
      return await work({ ...context, session: () => open, leaveLane });
    } catch (error) {
      if (error instanceof FencedError) session?.reportFault(error);
      throw error;
    } finally {
      done();
      leaveLane();
    }
  }

  /** A command that waited in the lane behind one that waited for the socket has waited for the socket, too. */
  private explainTooLate(channelId: string, error: unknown): unknown {
    const awaited = this.options.sessions.awaited(channelId);
    return awaited === undefined || !(error instanceof TooLate) ? error : notConnected(awaited, 1);
  }

  private assertInTime(startBy: number): void {
    if (this.clock.now() < startBy) return;
    throw new GatewayError(503, { details: 'the request could not be started in time: try again', retryAfterS: 1 });
  }

  /** The text of an error is logged or shown only if it was made for that: it may contain the message. */
  private explain(error: unknown, facts: object): GatewayError {
    if (error instanceof GatewayError) return error;
    const known = this.options.networkError(error);
    if (known) return known;
    this.options.log.error({ ...facts, failure: errorOutline(error) }, 'command failed');
    return new GatewayError(502);
  }

  private noteAnswer(facts: { command: string }, status: number, startedMs: number): void {
    const tookMs = this.clock.now() - startedMs;
    const line = { ...facts, status, tookMs };
    // The edge logs every request; a success needs no second line.
    if (status === 200) this.options.log.debug(line, 'command answered');
    else this.options.log.info(line, 'command answered');
    this.options.onAnswered?.(facts.command, status, tookMs);
  }
}

function noSession(): never {
  throw new Error('this command runs without an open session');
}
