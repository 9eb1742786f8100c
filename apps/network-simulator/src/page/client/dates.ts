const DAY_MS = 86_400_000;

/** A day in words, for the line above its first message. */
export function dayOf(timestampMs: number, nowMs: number): string {
  const day = new Date(timestampMs);
  const days = Math.round((startOfDay(nowMs) - startOfDay(timestampMs)) / DAY_MS);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return day.toLocaleDateString([], { day: 'numeric', month: 'long', year: 'numeric' });
}

export function timeOf(timestampMs: number): string {
  return new Date(timestampMs).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

/** A time to the millisecond, with its day where that is not today. */
export function preciseTimeOf(timestampMs: number, nowMs: number): string {
  const day = dayOf(timestampMs, nowMs);
  const time = new Date(timestampMs).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  });
  return day === 'Today' ? time : `${day}, ${time}`;
}

function startOfDay(timestampMs: number): number {
  return new Date(timestampMs).setHours(0, 0, 0, 0);
}
