import type { Writable } from 'node:stream';
import pc from 'picocolors';

/** Where the lines of all processes go. */
export interface LogSink {
  /** One line as the process printed it: a pino object, or any text. */
  line(source: string, text: string): void;
  /** A message of the launcher itself. */
  notice(message: string): void;
}

type Colors = ReturnType<typeof pc.createColors>;

/** pino's levels: apps log their names, pino by itself their numbers. */
const LEVEL_NAMES: Record<string, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const LEVEL_COLORS: Record<string, 'green' | 'yellow' | 'red'> = {
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
};
const SOURCE_COLORS = ['cyan', 'magenta', 'blue', 'yellow', 'green'] as const;
const SOURCE_WIDTH = 19;
/** Known to the reader from the rest of the line. */
const OMITTED = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'name', 'app', 'v', 'err', 'error', 'stack']);

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function field(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? '';
}

function stackOf(record: Record<string, unknown>): string {
  for (const name of ['err', 'error']) {
    const error = record[name];
    if (typeof error === 'string') return `\n    ${error}`;
    if (typeof error !== 'object' || error === null) continue;
    const { stack, message } = error as { stack?: unknown; message?: unknown };
    const text = typeof stack === 'string' ? stack : typeof message === 'string' ? message : '';
    if (text !== '') return `\n    ${text.replaceAll('\n', '\n    ')}`;
  }
  return '';
}

function clock(time: unknown, now: () => Date): string {
  const date = typeof time === 'number' || typeof time === 'string' ? new Date(time) : now();
  const part = (value: number, width = 2): string => String(value).padStart(width, '0');
  return `${part(date.getHours())}:${part(date.getMinutes())}:${part(date.getSeconds())}.${part(date.getMilliseconds(), 3)}`;
}

function sourceColor(source: string): (typeof SOURCE_COLORS)[number] {
  const sum = [...source].reduce((total, character) => total + character.charCodeAt(0), 0);
  return SOURCE_COLORS[sum % SOURCE_COLORS.length] ?? 'cyan';
}

/** A line for people: time, where it comes from, level, message, remaining fields, and the stack of an error below. */
export function prettyLine(source: string, text: string, colors: Colors, now = () => new Date()): string {
  const label = colors[sourceColor(source)](source.padEnd(SOURCE_WIDTH));
  const record = parseObject(text);
  if (!record) return `${colors.gray(clock(undefined, now))} ${label}       ${text}`;
  const logged = typeof record.level === 'string' || typeof record.level === 'number' ? String(record.level) : '';
  const level = LEVEL_NAMES[logged] ?? logged;
  const fields = Object.entries(record)
    .filter(([name]) => !OMITTED.has(name))
    .map(([name, value]) => `${name}=${field(value)}`);
  const message = typeof record.msg === 'string' ? record.msg : '';
  const shown = [message, colors.gray(fields.join(' '))].filter((part) => part !== '').join('  ');
  return `${colors.gray(clock(record.time, now))} ${label} ${colors[LEVEL_COLORS[level] ?? 'gray'](level.padEnd(5))} ${shown}${stackOf(record)}`;
}

/** Renders for people, in colours if the stream is a terminal. */
export function prettySink(stream: Writable & { isTTY?: boolean }): LogSink {
  const colors = pc.createColors(stream.isTTY === true && pc.isColorSupported);
  return {
    line: (source, text) => stream.write(`${prettyLine(source, text, colors)}\n`),
    notice: (message) => stream.write(`${message}\n`),
  };
}

/** Leaves the lines as they are, the source in front: for files. */
export function plainSink(stream: Writable): LogSink {
  return {
    line: (source, text) => stream.write(`${source} ${text}\n`),
    notice: (message) => stream.write(`launcher ${message}\n`),
  };
}
