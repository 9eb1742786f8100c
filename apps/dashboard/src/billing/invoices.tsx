import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/api.js';
import type { Answer } from '../api/operation-types.js';
import { FailureNote } from '../frame/failure-note.js';
import { Part } from '../frame/part.js';
import { useFormats } from '../i18n/formats.js';
import { useAccount } from '../session/session.js';

const PAGE_SIZE = 12;

type Invoice = Answer<'listInvoices'>['invoices'][number];

/** Invoices, newest first, with Stripe's page and file of each. */
export function Invoices({ hasBought }: { hasBought: boolean }) {
  const { t } = useTranslation('billing');
  const { id } = useAccount();
  const pages = useInfiniteQuery({
    queryKey: ['listInvoices', id],
    enabled: hasBought,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      api.request('listInvoices', { query: { count: PAGE_SIZE, after: pageParam } }, { signal }),
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const shown = pages.data?.pages.flatMap((page) => page.invoices) ?? [];
  return (
    <Part title={t('invoices.title')}>
      <FailureNote error={pages.error} />
      {shown.length === 0 && !pages.isFetching && <Text>{t('invoices.none')}</Text>}
      <Stack gap="xs" component="ul" p={0} m={0} w="100%" style={{ listStyle: 'none' }}>
        {shown.map((invoice) => (
          <InvoiceRow key={invoice.id} invoice={invoice} />
        ))}
      </Stack>
      {pages.hasNextPage && (
        <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t('invoices.more')}
        </Button>
      )}
    </Part>
  );
}

function InvoiceRow({ invoice }: { invoice: Invoice }) {
  const { t } = useTranslation('billing');
  const { date, money } = useFormats();
  const { id, number, status, created_at: createdAt, amount, currency, url, pdf } = invoice;
  const name = number ?? id;
  const states = t('invoices.status', { returnObjects: true });
  return (
    <li>
      <Group justify="space-between">
        <Text>
          {date(createdAt)} · {money(amount, currency)} ·{' '}
          {Object.entries(states).find(([key]) => key === status)?.[1] ?? status}
        </Text>
        <Group gap="sm">
          {url !== null && (
            <Anchor href={url} aria-label={t('invoices.openOf', { name })}>
              {t('invoices.open')}
            </Anchor>
          )}
          {pdf !== null && (
            <Anchor href={pdf} aria-label={t('invoices.fileOf', { name })}>
              PDF
            </Anchor>
          )}
        </Group>
      </Group>
    </li>
  );
}
