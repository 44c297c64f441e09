/** Texts of the speakers of other languages, read by `readGrammar` like the English sources. */
export const OTHER_LANGUAGES = {
  ja: `
when: 今朝 | 昨日の夜 | 週末 | お昼 | さっき
place: 港 | 駅前の喫茶店 | 商店街 | 川沿い | 図書館
thing: 写真 | パン | 自転車 | 猫 | 鉢植え | 古い本 | カメラ | 味噌汁
feel: とてもよかった | ちょっと疲れたけど楽しい | また行きたい | 静かで最高 | 満足です
post: おはようございます☀️ | {when}、{place}まで散歩。{feel} | {place}で{thing}を見つけた。{feel} | 今日の{thing}です📷 | {thing}の話をいつまでもしていられる
post: 雨の日は{place}で{thing}。{feel} | {@} この前の{thing}、ありがとう！ | {thing}を新しくした。{feel} | 夜ふかしして{thing}のことを調べている🌙 | {place}の{thing}がもうすぐ終わるらしい
reply: わかります！ | いいですね✨ | それはすごい | {place}ですか？ | わたしも{when}見ました | 続きが気になる | {feel} | {@} これ見て | 笑った😂 | おつかれさまです
followup: ありがとうございます🙏 | {when}もう一度行ってみます | そうなんです、{place}です | 次は一緒に！
quote: これは保存版 | {when}からずっと考えている | みんなに見てほしい
bio: {place}のあたりに住んでいます | {thing}と散歩が好き | {thing}の記録`,
  ko: `
when: 오늘 아침 | 어젯밤 | 주말에 | 점심때 | 방금
place: 바닷가 | 동네 카페 | 시장 | 강변 | 도서관
thing: 사진 | 빵 | 자전거 | 고양이 | 화분 | 오래된 책 | 필름 카메라 | 된장찌개
feel: 정말 좋았다 | 조금 피곤하지만 즐거웠다 | 또 가고 싶다 | 조용해서 최고 | 대만족
post: 좋은 아침입니다 ☀️ | {when} {place} 산책. {feel} | {place}에서 {thing} 발견! {feel} | 오늘의 {thing} 📷 | {thing} 이야기라면 밤새 할 수 있어요
post: 비 오는 날엔 {place}. {feel} | {@} 지난번 {thing} 고마워요! | {thing} 새로 장만했어요. {feel} | 잠 안 자고 {thing} 찾아보는 중 🌙
reply: 공감합니다 | 와 대박 | 어디예요? {place}? | 저도 {when} 봤어요 | 다음 이야기 궁금해요 | ㅋㅋㅋㅋ | {feel} | 응원합니다 💪 | {@} 이거 보세요
followup: 감사합니다 🙏 | 네, {place} 맞아요 | {when} 다시 가 보려고요 | 다음엔 같이 가요
quote: 이건 저장 | {when} 본 뒤로 계속 생각나네요 | 모두 봐 주세요
bio: {place} 근처에 삽니다 | {thing}, 그리고 산책 | {thing} 기록`,
  zh: `
when: 今天早上 | 昨晚 | 周末 | 中午 | 刚才
place: 码头 | 街角的咖啡馆 | 老菜市场 | 河边 | 图书馆
thing: 照片 | 面包 | 自行车 | 猫 | 盆栽 | 旧书 | 胶片相机 | 阳春面
feel: 特别好 | 有点累但开心 | 还想再去 | 安静极了 | 很满足
post: 早上好 ☀️ | {when}去{place}走了走，{feel} | 在{place}发现了{thing}，{feel} | 今日{thing} 📷 | 说起{thing}我能聊一整晚
post: 下雨天就待在{place}。{feel} | {@} 上次的{thing}谢谢你！ | 换了新的{thing}，{feel} | 不睡觉，在研究{thing} 🌙
reply: 同感 | 太棒了 ✨ | 是{place}吗？ | 我{when}也看到了 | 然后呢？ | 哈哈哈 | {feel} | 收藏了 | {@} 快来看
followup: 谢谢 🙏 | 对，就在{place} | {when}再去一次 | 下次一起
quote: 值得收藏 | {when}到现在一直在想这个 | 大家都来看看
bio: 住在{place}附近 | {thing}和散步 | 记录{thing}`,
  es: `
when: esta mañana | anoche | el domingo | después de comer | hace un rato
place: el puerto | la panadería de la esquina | el mercado | la orilla del río | la biblioteca
thing: la bici | el pan | la cámara vieja | el gato | la maceta | un libro usado | la guitarra | el guiso
feel: Una maravilla | Cansado pero contento | Volvería mañana | Qué silencio | Sin quejas
post: Buenos días ☀️ | Paseo por {place} {when}. {feel} | Encontré {thing} en {place}. {feel} | Hoy toca {thing} 📷 | Puedo hablar de {thing} toda la noche
post: Día de lluvia: {place} y {thing}. {feel} | {@} ¡gracias por {thing} del otro día! | Arreglé {thing} {when}. {feel} | ¿Alguien más despierto pensando en {thing}? 🌙
post: Nadie me avisó de que {thing} daba tanto trabajo. {feel} | ¿Quién se apunta a {place} el sábado?
reply: Totalmente | Qué buena ✨ | ¿Eso es {place}? | Yo también lo vi {when} | ¿Y después qué pasó? | jajaja | {feel} | Me lo guardo | {@} mira esto | Vamos 💪
followup: ¡Gracias! 🙏 | Sí, en {place} | Vuelvo {when} y te cuento | La próxima vienes
quote: Para guardar | Llevo desde {when} pensando en esto | Que lo lea todo el mundo
place_of: el puerto | e la orilla del río | el mercado
bio: cerca d{place_of} | {thing} y paseos largos | apuntes sobre {thing}`,
  pt: `
when: hoje cedo | ontem à noite | no domingo | depois do almoço | agora há pouco
place: o porto | a padaria da esquina | a feira | a beira do rio | a biblioteca
thing: a bicicleta | o pão | a câmera velha | o gato | o vaso de manjericão | um livro usado | o violão | o feijão
feel: Que delícia | Cansado mas feliz | Voltaria amanhã | Um silêncio bom | Sem reclamações
post: Bom dia ☀️ | Caminhada até {place} {when}. {feel} | Achei {thing} perto de casa. {feel} | Hoje tem {thing} 📷 | Posso falar sobre {thing} a noite toda
post: Dia de chuva, {place} e {thing}. {feel} | {@} adorei {thing} do outro dia! | Consertei {thing} {when}. {feel} | Alguém acordado pensando n{thing}? 🌙
reply: Demais | Que lindo ✨ | Isso é {place}? | Também vi {when} | E depois? | kkkkk | {feel} | Guardei aqui | {@} olha isso | Bora 💪
followup: Valeu! 🙏 | Isso, perto d{place_of} | Volto {when} e conto | Da próxima você vem
place_of: o porto | a feira | a biblioteca
quote: Pra guardar | Desde {when} pensando nisso | Todo mundo precisa ler
bio: perto d{place_of} | {thing} e caminhadas | anotações sobre {thing}`,
} as const;

export type Language = "en" | keyof typeof OTHER_LANGUAGES;
