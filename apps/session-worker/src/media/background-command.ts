/**
 * The command line of a process that opens files of strangers: with a limit on its memory (where the system has one), and
 * with processor time that nothing else needs at that moment.
 *
 * On Linux it has the policy SCHED_IDLE: any other process that becomes ready runs at once (sched(7)). A nice value alone
 * is not enough: a text passes through some ten processes, and each could wait for the end of a time slice. Where `chrt`
 * of util-linux is missing or not permitted the nice value remains.
 */
const SCRIPT = [
  'ulimit "-$1" "$2" 2>/dev/null',
  'shift 2',
  'chrt --idle 0 true 2>/dev/null && set -- chrt --idle 0 "$@"',
  'exec nice -n 19 "$@"',
].join('; ');

/** Which memory is limited: what the process may write to (`ulimit -d`), or its address space (`ulimit -v`). */
export type LimitedMemory = 'data' | 'addressSpace';

/** @returns the file and the arguments for `spawn`; the shell replaces itself with the program, so signals reach that */
export function backgroundCommand(
  limited: LimitedMemory,
  limitMib: number,
  program: readonly string[],
): [file: string, args: string[]] {
  const option = limited === 'data' ? 'd' : 'v';
  return ['/bin/sh', ['-c', SCRIPT, 'sh', option, String(limitMib * 1024), ...program]];
}
