import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/api.js';
import type { Answer } from '../api/operation-types.js';
import { FailureNote } from '../frame/failure-note.js';
import { Part } from '../frame/part.js';
import { useFormats } from '../i18n/formats.js';
import { useAccount } from '../session/session.js';
import type { BillingRecord } from './banners.js';

const PAGE_SIZE = 50;

type BilledNumber = Answer<'listBilledNumbers'>['numbers'][number];

/** Number by number: free, covered by what was bought, or beyond it, and whether it is served. */
export function BilledNumbers({ record }: { record: BillingRecord }) {
  const { t } = useTranslation('billing');
  const { id } = useAccount();
  const { numbers, bought, free, status } = record;
  const pages = useInfiniteQuery({
    // What the list is made of: read again as soon as one of it differs.
    queryKey: ['listBilledNumbers', id, numbers, bought, free, status, record.open.length],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      api.request('listBilledNumbers', { query: { count: PAGE_SIZE, offset: pageParam } }, { signal }),
    getNextPageParam: ({ total }, all) => (all.length * PAGE_SIZE < total ? all.length * PAGE_SIZE : undefined),
    refetchInterval: 5_000,
  });
  const shown = pages.data?.pages.flatMap((page) => page.numbers) ?? [];
  return (
    <Part title={t('numbers.title')}>
      <FailureNote error={pages.error} />
      {pages.isSuccess && shown.length === 0 && <Text>{t('numbers.none')}</Text>}
      <Stack gap="xs" component="ol" p={0} m={0} w="100%" style={{ listStyle: 'none' }}>
        {shown.map((number) => (
          <NumberRow key={number.channel} shown={number} />
        ))}
      </Stack>
      {pages.hasNextPage && (
        <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t('numbers.more')}
        </Button>
      )}
    </Part>
  );
}

function NumberRow({ shown: { channel, name, first_linked_at: linkedAt, place, standing } }: { shown: BilledNumber }) {
  const { t } = useTranslation('billing');
  const { date } = useFormats();
  const isServed = standing === 'good';
  return (
    <li>
      <Group justify="space-between" align="flex-start">
        <div>
          <Text fw={500}>{name ?? channel}</Text>
          <Text size="sm" c="dimmed">
            {t('numbers.since', { channel, date: date(linkedAt) })}
          </Text>
          <Text size="sm">{t(isServed ? `numbers.why.${place}` : `numbers.refused.${standing}`)}</Text>
        </div>
        <Badge variant="light" color={isServed ? 'moss' : 'red'}>
          {t(isServed ? `numbers.place.${place}` : 'numbers.place.refused')}
        </Badge>
      </Group>
    </li>
  );
}
