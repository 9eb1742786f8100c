import { Anchor, Code, Stack, Text } from '@mantine/core';
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiAway } from '../api/api-failure.js';
import { reachability } from '../api/api.js';
import { AwayBanner } from './away-banner.js';
import { FailureNote } from './failure-note.js';
import { Loading, Page } from './page.js';

/** What a page shows that failed as a whole; one that failed because the API is away is tried again when it is back. */
export function BrokenPage({ error }: { error: unknown }) {
  const { t } = useTranslation();
  if (error instanceof ApiAway) return <WaitingPage />;
  return (
    <Page title={t('broken.title')} about={t('broken.text')}>
      <FailureNote error={error instanceof Error ? error : null} />
      <Code block>{String(error)}</Code>
    </Page>
  );
}

function WaitingPage() {
  const router = useRouter();
  useEffect(() => reachability.subscribe(() => void (reachability.isReachable && router.invalidate())), [router]);
  return (
    <>
      <AwayBanner />
      <Loading />
    </>
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
