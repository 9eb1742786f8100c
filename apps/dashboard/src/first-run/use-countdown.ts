import { useEffect, useState } from 'react';

const TICK_MS = 250;

/** Milliseconds that are left of what is valid for `validMs` from `startedMs` (performance.now()) on; never below 0. */
export function useCountdown(startedMs: number, validMs: number): number {
  const [nowMs, setNowMs] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, startedMs + validMs - Math.max(nowMs, startedMs));
}
