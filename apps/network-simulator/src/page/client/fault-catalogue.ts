/** Whom a fault can be limited to: nobody in particular, one phone if wanted, or one phone always. */
type Whom = 'everybody' | 'anybody' | 'one';

/** Something that can be made to go wrong, in words. */
export interface FaultChoice {
  label: string;
  whom: Whom;
  request: { kind: string; [parameter: string]: unknown };
  /** What the control API returns, in words, for what happens at once and does not stay. */
  done?: (answer: Record<string, unknown>) => string;
}

const counted = (count: unknown, one: string): string => `${String(count)} ${one}${count === 1 ? '' : 's'}`;
const dropped = ({ dropped: count }: Record<string, unknown>): string => `Dropped ${counted(count, 'connection')}.`;

export const FAULT_CHOICES: readonly FaultChoice[] = [
  { label: 'Drop the connection', whom: 'anybody', request: { kind: 'drop' }, done: dropped },
  { label: 'Drop with stream error 503', whom: 'anybody', request: { kind: 'drop', code: 503 }, done: dropped },
  {
    label: 'Storm of reconnects',
    whom: 'anybody',
    request: { kind: 'storm', times: 5, everyMs: 2000 },
    done: ({ times }) => `Every connection is cut ${counted(times, 'time')}, every 2 s.`,
  },
  { label: 'Refuse the next connection', whom: 'anybody', request: { kind: 'refuse-connection' } },
  { label: 'Refuse the next message (479)', whom: 'anybody', request: { kind: 'refuse-send', code: 479 } },
  { label: 'Refuse the next message (463)', whom: 'anybody', request: { kind: 'refuse-send', code: 463 } },
  { label: 'Refuse the next query (500)', whom: 'anybody', request: { kind: 'refuse-iq' } },
  { label: 'Hold acknowledgements', whom: 'anybody', request: { kind: 'hold-acks' } },
  { label: 'Delay acknowledgements by 3 s', whom: 'anybody', request: { kind: 'delay-acks', ms: 3000 } },
  { label: 'Slow line, 500 ms', whom: 'anybody', request: { kind: 'delay', ms: 500, jitterMs: 200 } },
  { label: 'Silent line', whom: 'anybody', request: { kind: 'silence' } },
  { label: 'Lose receipts', whom: 'anybody', request: { kind: 'lose-receipts' } },
  { label: 'Corrupt the next message', whom: 'anybody', request: { kind: 'corrupt-message' } },
  { label: 'Double the next message', whom: 'anybody', request: { kind: 'duplicate-message' } },
  { label: 'Placeholder instead of the next message', whom: 'anybody', request: { kind: 'placeholder' } },
  { label: 'Number unknown', whom: 'one', request: { kind: 'make-unknown' } },
  { label: 'Banned', whom: 'one', request: { kind: 'ban' } },
  {
    label: 'All files expired',
    whom: 'everybody',
    request: { kind: 'expire-media' },
    done: ({ expired }) => `${counted(expired, 'file')} expired.`,
  },
  { label: 'Slow file transfers', whom: 'everybody', request: { kind: 'slow-media', ms: 200 } },
  { label: 'Break file transfers off', whom: 'everybody', request: { kind: 'break-media' } },
  { label: 'Refuse uploads', whom: 'everybody', request: { kind: 'refuse-upload' } },
  { label: 'Hold uploads', whom: 'everybody', request: { kind: 'hold-uploads' } },
];

/** The name of a fault that is in force. */
export function faultLabel(fault: { kind: string; [parameter: string]: unknown }): string {
  const ofKind = FAULT_CHOICES.filter(({ request }) => request.kind === fault.kind);
  const fits = ({ request }: FaultChoice) => Object.keys(request).every((name) => request[name] === fault[name]);
  return (ofKind.find(fits) ?? ofKind[0])?.label ?? fault.kind;
}
