import type { Catalogue } from '../catalogue.js';

export const frame: Catalogue['frame'] = {
  loading: 'Carregando',
  cancel: 'Cancelar',
  save: 'Salvar',
  close: 'Fechar',
  retry: 'Tentar de novo',
  copy: 'Copiar: {{label}}',
  copied: 'Copiado',
  documentation: 'Documentação',
  language: 'Idioma',
  skip: 'Ir para o conteúdo',
  menu: { open: 'Abrir o menu', close: 'Fechar o menu', label: 'Menu principal' },
  areas: {
    channels: 'Canais',
    account: 'Conta',
    billing: 'Cobrança',
    operators: 'Operação',
    profile: 'Seu usuário',
  },
  user: { menu: 'Menu do usuário', signOut: 'Sair' },
  account: { choose: 'Conta' },
  scheme: { light: 'Usar cores claras', dark: 'Usar cores escuras' },
  away: {
    title: 'O serviço não está respondendo no momento',
    text: 'Seus números continuam funcionando. Esta página se recupera sozinha quando o serviço voltar.',
  },
  failure: {
    title: 'Isto não foi feito',
    retryAfter: 'Tente de novo em {{seconds}} s.',
    what: 'O que isto significa?',
    requestId: 'Requisição {{requestId}}',
  },
  notFound: {
    title: 'Esta página não existe',
    text: 'O endereço pode estar errado, ou a página mudou de lugar.',
    home: 'Ir para os seus canais',
  },
  broken: {
    title: 'Esta página falhou',
    text: 'Recarregue-a. Se falhar de novo, escreva ao suporte com o texto abaixo.',
  },
  password: {
    title: 'Digite sua senha de novo',
    why: 'O que você vai fazer exige sua senha. Ela não será pedida de novo por 15 minutos.',
    label: 'Senha',
    code: 'Código do seu aplicativo autenticador',
    show: 'Mostrar o que é digitado',
    confirm: 'Continuar',
  },
};
