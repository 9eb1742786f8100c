import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { Loading } from '../frame/page.js';
import { useFormats } from '../i18n/formats.js';
import { useAccount } from '../session/session.js';
import { AccountSection } from './account-section.js';
import { auditFacts, auditSentence, type AuditEntry } from './audit-sentence.js';

const PAGE_SIZE = 50;
const DAY_S = 86_400;

interface Filter {
  /** First word of an action; empty: all. */
  action: string;
  /** Id of what it was about. */
  object: string;
  /** A day as browsers write it in a field; from its begin in the visitor's time zone. */
  from: string;
  to: string;
}

const NO_FILTER: Filter = { action: '', object: '', from: '', to: '' };
const SUBJECTS = ['channel', 'webhook', 'member', 'invitation', 'key', 'billing', 'account'] as const;

/** What was done in the account, newest first, as sentences. */
export function AuditPage() {
  const { t } = useTranslation('account');
  const [filter, setFilter] = useState(NO_FILTER);
  const pages = useAudit(filter);
  const entries = pages.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <AccountSection name="audit">
      <FilterForm onFilter={setFilter} />
      <FailureNote error={pages.error} />
      {pages.isPending && <Loading />}
      {pages.isSuccess && entries.length === 0 && <Text c="dimmed">{t('audit.none')}</Text>}
      <Stack gap="xs" component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </Stack>
      {pages.hasNextPage && (
        <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t('audit.more')}
        </Button>
      )}
    </AccountSection>
  );
}

function useAudit({ action, object, from, to }: Filter) {
  const { id } = useAccount();
  return useInfiniteQuery({
    queryKey: ['listAudit', id, action, object, from, to],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      api.request(
        'listAudit',
        {
          query: {
            count: PAGE_SIZE,
            cursor: pageParam,
            action,
            object: object.trim(),
            from: from === '' ? '' : startOf(from),
            to: to === '' ? '' : startOf(to) + DAY_S,
          },
        },
        { signal },
      ),
    getNextPageParam: ({ next }) => next,
  });
}

/** Begin of a day, in epoch seconds. */
function startOf(day: string): number {
  return Math.floor(new Date(`${day}T00:00`).getTime() / 1_000);
}

function FilterForm({ onFilter }: { onFilter: (filter: Filter) => void }) {
  const { t } = useTranslation('account');
  const form = useForm({ initialValues: NO_FILTER });
  return (
    <form onSubmit={form.onSubmit(onFilter)}>
      <Group align="flex-end" gap="sm">
        <NativeSelect
          label={t('audit.subject')}
          data={[
            { value: '', label: t('audit.all') },
            ...SUBJECTS.map((value) => ({ value, label: t(`audit.subjects.${value}`) })),
          ]}
          {...form.getInputProps('action')}
        />
        <TextInput label={t('audit.object')} {...form.getInputProps('object')} />
        <TextInput type="date" label={t('audit.from')} {...form.getInputProps('from')} />
        <TextInput type="date" label={t('audit.to')} {...form.getInputProps('to')} />
        <Button type="submit" variant="default">
          {t('audit.filter')}
        </Button>
      </Group>
    </form>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation('account');
  const { dateTime } = useFormats();
  const words = t('audit', { returnObjects: true });
  return (
    <li>
      <Text style={{ overflowWrap: 'anywhere' }}>{auditSentence(entry, words)}</Text>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {[dateTime(entry.at), auditFacts(entry)].filter((text) => text !== '').join(' · ')}
      </Text>
    </li>
  );
}
