import '../channels.css';
import { Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FailureNote } from '../../frame/failure-note.js';
import { Loading, Page } from '../../frame/page.js';
import { useMayChange } from '../may-change.js';
import { useChannelPages } from './channel-pages.js';
import { ChannelRows } from './channel-rows.js';
import { LinkButton } from '../../frame/links.js';

const route = getRouteApi('/app/channels');
const SEARCH_WAIT_MS = 200;

/** The channels of the account, newest first, or those that a search finds. */
export function ChannelListPage() {
  const { t } = useTranslation('channels');
  const mayChange = useMayChange();
  const [text, setText] = useState(route.useSearch().search ?? '');
  const search = useKeptSearch(text);
  const [rows, setRows] = useState({ first: 0, last: 0 });
  const { total, at, error } = useChannelPages(search, rows);
  const show = useCallback(
    (next: { first: number; last: number }) =>
      setRows((now) => (now.first === next.first && now.last === next.last ? now : next)),
    [],
  );
  const nothingFound = total === 0 && search !== '';
  return (
    <Page
      title={t('list.title')}
      actions={
        mayChange && (
          <LinkButton to="/channels/new" leftSection={<IconPlus size={18} aria-hidden />}>
            {t('list.new')}
          </LinkButton>
        )
      }
    >
      <FailureNote error={error} />
      {total === 0 && search === '' ? (
        <Text>{t(mayChange ? 'list.none' : 'list.noneToRead')}</Text>
      ) : (
        <Stack gap="sm">
          <TextInput
            type="search"
            label={t('list.search')}
            description={t('list.searchHelp')}
            leftSection={<IconSearch size={18} aria-hidden />}
            value={text}
            maxLength={100}
            onChange={({ currentTarget: { value } }) => setText(value)}
          />
          <Text size="sm" c="dimmed" role="status">
            {nothingFound ? t('list.nothingFound') : total !== undefined && t('list.total', { n: total })}
          </Text>
          {total === undefined && !error && <Loading />}
          {total !== undefined && total > 0 && <ChannelRows key={search} total={total} at={at} onRows={show} />}
        </Stack>
      )}
    </Page>
  );
}

/** The search once typing has paused; kept in the address, so that it is there again after a look at a channel. */
function useKeptSearch(text: string): string {
  const [search] = useDebouncedValue(text.trim(), SEARCH_WAIT_MS);
  const navigate = route.useNavigate();
  const kept = route.useSearch().search ?? '';
  useEffect(() => {
    if (search !== kept) void navigate({ search: search === '' ? {} : { search }, replace: true, resetScroll: false });
  }, [search, kept, navigate]);
  return search;
}
