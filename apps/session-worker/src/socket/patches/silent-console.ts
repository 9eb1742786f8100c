/** Where the fact that something was printed goes; a pino logger fits. */
export interface ConsoleWitness {
  debug(facts: object, message: string): void;
}

const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'] as const;

/**
 * Silences the console of the process. libsignal prints whole sessions, private ratchet keys included, when it opens
 * or closes one; the gateway itself logs through its logger only. What was printed is not even formatted: the witness
 * learns that something was printed, never what.
 * @returns puts the console back
 */
export function silenceConsole(witness: ConsoleWitness): () => void {
  const target = globalThis.console;
  const before = METHODS.map((method) => [method, Reflect.get(target, method) as unknown] as const);
  for (const method of METHODS) {
    Reflect.set(target, method, () => witness.debug({ method }, 'a library printed to the console'));
  }
  return () => {
    for (const [method, print] of before) Reflect.set(target, method, print);
  };
}
