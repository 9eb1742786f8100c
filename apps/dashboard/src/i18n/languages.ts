/** Languages of the pages: English, Spanish, Portuguese. A language is loaded when it is shown. */
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { Catalogue } from './catalogue.js';

export const LANGUAGES = { en: 'English', es: 'Español', pt: 'Português' } as const;
export type Language = keyof typeof LANGUAGES;

const LANGUAGE_KEY = 'dormouse.language';

const CATALOGUES: Record<Language, () => Promise<{ catalogue: Catalogue }>> = {
  en: () => import('./en/catalogue.js'),
  es: () => import('./es/catalogue.js'),
  pt: () => import('./pt/catalogue.js'),
};

export function isLanguage(code: string): code is Language {
  return code in LANGUAGES;
}

/** The language that was chosen here, else the first of the browser's that there is, else English. */
export function firstLanguage(kept: string | null, ofBrowser: readonly string[]): Language {
  const wanted = [kept ?? '', ...ofBrowser.map((code) => code.slice(0, 2).toLowerCase())];
  return wanted.find(isLanguage) ?? 'en';
}

/** Loads the language of the visitor; pages are drawn after it. */
export async function startLanguages(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: {},
    lng: 'en',
    fallbackLng: false,
    defaultNS: 'frame',
    // React escapes what it shows.
    interpolation: { escapeValue: false },
  });
  await setLanguage(firstLanguage(localStorage.getItem(LANGUAGE_KEY), navigator.languages), { keep: false });
}

export async function setLanguage(language: Language, { keep = true } = {}): Promise<void> {
  const { catalogue } = await CATALOGUES[language]();
  for (const [area, texts] of Object.entries(catalogue)) i18next.addResourceBundle(language, area, texts);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  if (keep) localStorage.setItem(LANGUAGE_KEY, language);
}
