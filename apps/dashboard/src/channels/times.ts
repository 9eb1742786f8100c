import { useTranslation } from 'react-i18next';

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A length of time in its largest whole unit, in the language: `3 hours`. */
export function durationText(seconds: number, language: string): string {
  const [unit, length] = UNITS.find(([, size]) => seconds >= size) ?? UNITS[3];
  const format = new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 0,
  });
  return format.format(Math.max(0, Math.floor(seconds / length)));
}

/** Times as the visitor's language and time zone have them. */
export function useTimes(): {
  moment: (epochMs: number) => string;
  clock: (epochMs: number) => string;
  duration: (seconds: number) => string;
} {
  const { language } = useTranslation().i18n;
  return {
    moment: (epochMs) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(epochMs),
    clock: (epochMs) => new Intl.DateTimeFormat(language, { timeStyle: 'medium' }).format(epochMs),
    duration: (seconds) => durationText(seconds, language),
  };
}
