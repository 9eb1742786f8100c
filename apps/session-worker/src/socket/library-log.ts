import type { SocketConfig } from '@whiskeysockets/baileys';

/** Where the library's troubles go; a pino logger fits. */
export interface LibraryLogTarget {
  debug(facts: object, text: string): void;
}

/** What the library logs with each change of the shared state, before it handles it. */
const SHARED_CHANGE = 'processing sync action';

/**
 * The network library's log, without what it talks about: it logs whole stanzas, keys and messages beside its texts.
 * Only the fixed text of warnings and errors is passed on, digits (phone numbers, message ids) blotted out.
 * @param onSharedChange given what the library logs of each change of the state that the phone shares: the only place
 * where changes can be seen that it does not handle
 */
export function libraryLog(
  target: LibraryLogTarget,
  onSharedChange: (facts: unknown) => void = () => undefined,
): SocketConfig['logger'] {
  const pass = (facts: unknown, text?: string): void => {
    const line = text ?? (typeof facts === 'string' ? facts : undefined);
    if (line !== undefined) target.debug({ library: 'baileys' }, line.replace(/\d+/g, '#').slice(0, 200));
  };
  const silent = (): void => undefined;
  const log: SocketConfig['logger'] = {
    level: 'warn',
    child: () => log,
    trace: (facts: unknown, text?: string) => {
      if (text === SHARED_CHANGE) onSharedChange(facts);
    },
    debug: silent,
    info: silent,
    warn: pass,
    error: pass,
  };
  return log;
}
