import { Anchor, Code, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiAway } from '../api/api-failure.js';
import { FailureNote } from './failure-note.js';
import { Loading, Page } from './page.js';

/** What a page shows that failed as a whole. */
export function BrokenPage({ error }: { error: unknown }) {
  const { t } = useTranslation();
  if (error instanceof ApiAway) return <Loading />;
  return (
    <Page title={t('broken.title')} about={t('broken.text')}>
      <FailureNote error={error instanceof Error ? error : null} />
      <Code block>{String(error)}</Code>
    </Page>
  );
}

export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <Page title={t('notFound.title')}>
      <Stack>
        <Text>{t('notFound.text')}</Text>
        <Anchor component={Link} to="/">
          {t('notFound.home')}
        </Anchor>
      </Stack>
    </Page>
  );
}
