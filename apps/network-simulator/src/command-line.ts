import { parseArgs } from 'node:util';

/** Options of the command, and the settings that they stand for. */
const SETTINGS = {
  port: 'PORT',
  host: 'HOST',
  'public-host': 'PUBLIC_HOST',
  'data-dir': 'DATA_DIR',
  'log-level': 'LOG_LEVEL',
} as const;

export const USAGE = `Usage: network-simulator [options]

A small messaging network with phones, for clients of the multi-device protocol.

  --port <port>          of the control API, the page and the WebSocket; any free one without it
  --host <address>       to listen on (127.0.0.1)
  --public-host <host>   host or host:port under which clients reach it
  --data-dir <folder>    keeps the network across restarts
  --log-level <level>    fatal, error, warn, info, debug, trace or silent (info)
  --help                 shows this

Each option can be set in the environment as well: PORT, HOST, PUBLIC_HOST, DATA_DIR, LOG_LEVEL.
One line on standard output shows the addresses and the root key, as JSON; logs go to standard error.
This program is free software under the GNU General Public License, version 3 or later.
`;

/** The settings that the command line gives; `help` when that is wanted. Throws an Error that names an option that does not exist. */
export function settingsOf(args: readonly string[]): Record<string, string> | 'help' {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: text,
      host: text,
      'public-host': text,
      'data-dir': text,
      'log-level': text,
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return 'help';
  const given = Object.entries(SETTINGS).flatMap(([option, setting]) => {
    const value = values[option as keyof typeof SETTINGS];
    return value === undefined ? [] : [[setting, value] as const];
  });
  return Object.fromEntries(given);
}
