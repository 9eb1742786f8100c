/** What the SMTP server does wrong on purpose, until it is removed or as often as it was set. */
import { z } from 'zod';

const times = z.int().min(1).optional();

export const faultSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('refuse'),
    /** The step of the dialogue that is refused. */
    at: z.enum(['auth', 'sender', 'recipient', 'message']),
    /** 4xx: try again; 5xx: never. */
    code: z.int().min(400).max(599),
    /** With `at: recipient`, only this address. */
    to: z.string().min(1).optional(),
    times,
  }),
  /** The answer to a whole message comes this much later. */
  z.strictObject({ kind: z.literal('slow'), ms: z.int().min(1).max(600_000), times }),
  /** Messages are stored, and the connection is cut instead of the answer. */
  z.strictObject({ kind: z.literal('cut'), times }),
  /** Connections are closed at once, open ones too. */
  z.strictObject({ kind: z.literal('away'), times }),
]);

export type Fault = z.output<typeof faultSchema>;
type Of<Kind extends Fault['kind']> = Extract<Fault, { kind: Kind }>;

export class Faults {
  #faults: Fault[] = [];
  /** Called with each fault that is added. */
  onAdded: (fault: Fault) => void = () => undefined;

  get list(): readonly Fault[] {
    return this.#faults;
  }

  add(fault: Fault): void {
    this.#faults.push(fault);
    this.onAdded(fault);
  }

  clear(): void {
    this.#faults = [];
  }

  /** A fault of this kind, counted as used, or undefined. */
  take<Kind extends Fault['kind']>(
    kind: Kind,
    isMeant: (fault: Of<Kind>) => boolean = () => true,
  ): Of<Kind> | undefined {
    const found = this.#faults.find((fault): fault is Of<Kind> => fault.kind === kind && isMeant(fault as Of<Kind>));
    if (found?.times === undefined) return found;
    const left = found.times - 1;
    this.#faults = this.#faults.flatMap((fault) =>
      fault !== found ? [fault] : left > 0 ? [{ ...fault, times: left }] : [],
    );
    return found;
  }
}
