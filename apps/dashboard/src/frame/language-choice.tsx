import { NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isLanguage, LANGUAGES, setLanguage } from '../i18n/languages.js';

/** The language of the pages; each is named in itself. */
export function LanguageChoice() {
  const { t, i18n } = useTranslation();
  return (
    <NativeSelect
      aria-label={t('language')}
      value={i18n.language}
      data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
      onChange={({ currentTarget: { value } }) => void (isLanguage(value) && setLanguage(value))}
    />
  );
}
