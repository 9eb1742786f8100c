import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { LinkPaper } from '../frame/links.js';
import { Loading } from '../frame/page.js';
import { OperatorPage } from './operator-page.js';

const SEARCH_WAIT_MS = 200;

/** Every account of the installation. */
export function AccountsPage() {
  const { t } = useTranslation('operators');
  return (
    <OperatorPage title={t('accounts.title')} about={t('accounts.about')}>
      <Accounts />
    </OperatorPage>
  );
}

function Accounts() {
  const { t } = useTranslation('operators');
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim(), SEARCH_WAIT_MS);
  const [page, setPage] = useState<{ search: string; cursor: string }>();
  const cursor = page?.search === search ? page.cursor : undefined;
  const query = { ...(search === '' ? {} : { search }), ...(cursor === undefined ? {} : { cursor }) };
  const { data, error } = useRead('listOperatorAccounts', { query }, { keepsFormer: true });
  return (
    <Stack gap="sm">
      <TextInput
        type="search"
        label={t('accounts.search')}
        description={t('accounts.searchHelp')}
        leftSection={<IconSearch size={18} aria-hidden />}
        value={text}
        maxLength={100}
        onChange={({ currentTarget: { value } }) => setText(value)}
      />
      <FailureNote error={error} />
      {!data && !error && <Loading />}
      {data?.accounts.length === 0 && <Text role="status">{t('accounts.none')}</Text>}
      {data?.accounts.map(({ id, name, owners, channels, billing, ended_at: endedAt }) => (
        <LinkPaper
          key={id}
          withBorder
          p="sm"
          display="block"
          to="/operators/accounts/$account"
          params={{ account: id }}
        >
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {[...owners.map(({ email }) => email), t('accounts.channels', { n: channels })].join(' · ')}
          </Text>
          <Text size="sm">
            {endedAt === undefined
              ? billing
                ? t(`accounts.plan.${billing.plan}`)
                : t('accounts.billingAway')
              : t('accounts.ended')}
            {billing && billing.open > 0 && ` · ${t('accounts.open', { n: billing.open })}`}
          </Text>
        </LinkPaper>
      ))}
      {data?.next !== undefined && (
        <Button variant="default" onClick={() => setPage({ search, cursor: data.next ?? '' })}>
          {t('accounts.more')}
        </Button>
      )}
    </Stack>
  );
}
