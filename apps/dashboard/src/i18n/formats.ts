import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';

export interface Formats {
  /** A day, of epoch seconds. */
  date: (epochS: number) => string;
  /** A day and its time, of epoch seconds. */
  dateTime: (epochS: number) => string;
  /** An amount in the smallest unit of its currency. */
  money: (amount: number, currency: string) => string;
}

/** Dates and amounts as the language writes them. */
export function formatsOf(language: string): Formats {
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  return {
    date: (epochS) => date.format(epochS * 1_000),
    dateTime: (epochS) => dateTime.format(epochS * 1_000),
    money: (amount, currency) => {
      const format = new Intl.NumberFormat(language, { style: 'currency', currency });
      return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
    },
  };
}

/** Dates and amounts as the language of the page writes them. */
export function useFormats(): Formats {
  const { language } = useTranslation().i18n;
  return useMemo(() => formatsOf(language), [language]);
}
