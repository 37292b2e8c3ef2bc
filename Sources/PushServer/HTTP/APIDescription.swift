/// The description of the HTTP API (OpenAPI 3.1), as `/openapi.json` serves it.
///
/// Documentation/openapi.yaml as JSON: `Scripts/openapi` writes this file.
enum APIDescription {
    /// The description's text.
    static let json = #"""
        {
        "openapi":"3.1.0",
        "info":{
        "title":"Backline",
        "version":"1",
        "description":"The HTTP operations of a Backline server. Protocol.md says what they mean, and has the \#
        messages of the sockets. Every GET is answered as HEAD too, without a body. A method that a path does not \#
        have is answered 405 with Allow, a path that is none 404, both with a problem; bytes that are no request 400\#
         with a problem. Every answer has X-Content-Type-Options, Referrer-Policy, Cache-Control (no-store) and \#
        Content-Security-Policy, and where TLS is the server's own Strict-Transport-Security. Members of objects \#
        that are not described here are ignored in requests; null is as good as absent. Lengths of texts count \#
        Unicode scalars, without the white space at their ends."
        },
        "security":[{"token":[]},{"cookie":[]}],
        "paths":{
        "/healthz":{
        "get":{"operationId":"getHealth","summary":"Whether the process \#
        lives","security":[],"responses":{"200":{"description":"It lives.","content":{"application/json":{"schema":{\#
        "$ref":"#/components/schemas/Status"}}}},"429":{"$ref":"#/components/responses/RateLimited"}}}
        },
        "/readyz":{
        "get":{"operationId":"getReadiness","summary":"Whether the server can take \#
        traffic","security":[],"responses":{"200":{"description":"It can.","content":{"application/json":{"schema":{\#
        "$ref":"#/components/schemas/Status"}}}},"429":{"$ref":"#/components/responses/RateLimited"},"503":{"$ref":"\#
        #/components/responses/Unavailable"}}}
        },
        "/metrics":{
        "get":{"operationId":"getMetrics","summary":"What was measured, in Prometheus' text format","security":[],"r\#
        esponses":{"200":{"description":"Metrics.","content":{"text/plain":{"schema":{"type":"string"}}}},"429":{"$r\#
        ef":"#/components/responses/RateLimited"}}}
        },
        "/openapi.json":{
        "get":{"operationId":"getDescription","summary":"This \#
        description","security":[],"responses":{"200":{"description":"The description.","content":{"application/json\#
        ":{"schema":{"$ref":"#/components/schemas/Description"}}}},"429":{"$ref":"#/components/responses/RateLimited\#
        "}}}
        },
        "/v1/sessions":{
        "post":{"operationId":"createSession","summary":"Makes a session","security":[],"requestBody":{"required":tr\#
        ue,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Naming"}}}},"responses":{"201":{"de\#
        scription":"The session, with its token, which is shown only here.","headers":{"Set-Cookie":{"$ref":"#/compo\#
        nents/headers/SetCookie"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/NewSession"\#
        }}}},"400":{"$ref":"#/components/responses/BadRequest"},"406":{"$ref":"#/components/responses/NotAcceptable"\#
        },"413":{"$ref":"#/components/responses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaTyp\#
        e"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"50\#
        3":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/session":{
        "get":{"operationId":"getSession","summary":"The session of the request","responses":{"200":{"$ref":"#/compo\#
        nents/responses/Session"},"401":{"$ref":"#/components/responses/Unauthorized"},"406":{"$ref":"#/components/r\#
        esponses/NotAcceptable"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/res\#
        ponses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}},
        "patch":{"operationId":"renameSession","summary":"Renames the session","requestBody":{"required":true,"conte\#
        nt":{"application/json":{"schema":{"$ref":"#/components/schemas/Naming"}}}},"responses":{"200":{"$ref":"#/co\#
        mponents/responses/Session"},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":"#/components/\#
        responses/Unauthorized"},"406":{"$ref":"#/components/responses/NotAcceptable"},"413":{"$ref":"#/components/r\#
        esponses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaType"},"429":{"$ref":"#/components\#
        /responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/respon\#
        ses/Unavailable"}}},
        "delete":{"operationId":"deleteSession","summary":"Ends the session; it leaves every \#
        room","responses":{"204":{"description":"It has ended.","headers":{"Set-Cookie":{"$ref":"#/components/header\#
        s/SetCookie"}}},"401":{"$ref":"#/components/responses/Unauthorized"},"406":{"$ref":"#/components/responses/N\#
        otAcceptable"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Int\#
        ernal"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/rooms":{
        "get":{"operationId":"listRooms","summary":"Open public rooms, most listeners first","parameters":[{"$ref":"\#
        #/components/parameters/Text"},{"$ref":"#/components/parameters/Cursor"},{"name":"limit","in":"query","descr\#
        iption":"Rooms in the answer, at most; above 200 as 200.","schema":{"type":"integer","minimum":1,"maximum":9\#
        007199254740991,"default":50}}],"responses":{"200":{"description":"A page of the listing.","content":{"appli\#
        cation/json":{"schema":{"$ref":"#/components/schemas/RoomList"}}}},"400":{"$ref":"#/components/responses/Bad\#
        Request"},"401":{"$ref":"#/components/responses/Unauthorized"},"406":{"$ref":"#/components/responses/NotAcce\#
        ptable"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"\#
        },"503":{"$ref":"#/components/responses/Unavailable"}}},
        "post":{"operationId":"createRoom","summary":"Makes a room, whose owner the caller is","parameters":[{"$ref"\#
        :"#/components/parameters/IdempotencyKey"}],"requestBody":{"required":true,"content":{"application/json":{"s\#
        chema":{"$ref":"#/components/schemas/NewRoom"}}}},"responses":{"201":{"description":"The room is made.","hea\#
        ders":{"Location":{"$ref":"#/components/headers/RoomLocation"}},"content":{"application/json":{"schema":{"$r\#
        ef":"#/components/schemas/RoomView"}}}},"200":{"description":"The room that was made with the same key \#
        before, as it is now.","headers":{"Location":{"$ref":"#/components/headers/RoomLocation"}},"content":{"appli\#
        cation/json":{"schema":{"$ref":"#/components/schemas/RoomView"}}}},"400":{"$ref":"#/components/responses/Bad\#
        Request"},"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidd\#
        en"},"406":{"$ref":"#/components/responses/NotAcceptable"},"409":{"$ref":"#/components/responses/Conflict"},\#
        "413":{"$ref":"#/components/responses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaType"\#
        },"422":{"$ref":"#/components/responses/LimitReached"},"429":{"$ref":"#/components/responses/RateLimited"},"\#
        500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/rooms/nearby":{
        "get":{"operationId":"listNearbyRooms","summary":"Open public rooms near a point, nearest \#
        first","description":"Numbers are written as in JSON, each parameter once; anything else is a 400 that names\#
         the parameter. Searches and new nearby subscriptions of a session are counted \#
        together.","parameters":[{"name":"lat","in":"query","description":"Degrees north.","required":true,"schema":\#
        {"type":"number","minimum":-90,"maximum":90},"example":52.52},{"name":"lon","in":"query","description":"Degr\#
        ees east.","required":true,"schema":{"type":"number","minimum":-180,"maximum":180},"example":13.405},{"name"\#
        :"radiusMeters","in":"query","description":"Rooms farther away are left out.","schema":{"type":"number","min\#
        imum":1,"maximum":20037508,"default":5000},"example":1500},{"name":"limit","in":"query","description":"Rooms\#
         in the answer, at most.","schema":{"type":"integer","minimum":1,"maximum":200,"default":50},"example":20}],\#
        "responses":{"200":{"description":"The rooms, with their distances.","content":{"application/json":{"schema"\#
        :{"$ref":"#/components/schemas/NearbyList"}}}},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$r\#
        ef":"#/components/responses/Unauthorized"},"406":{"$ref":"#/components/responses/NotAcceptable"},"429":{"$re\#
        f":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/c\#
        omponents/responses/Unavailable"}}}
        },
        "/v1/rooms/{room}":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "get":{"operationId":"getRoom","summary":"The room as it is, or as it \#
        was","parameters":[{"name":"at","in":"query","description":"The event to look back to, from 1 to the room's \#
        last.","schema":{"type":"integer"}}],"responses":{"200":{"description":"The room.","content":{"application/j\#
        son":{"schema":{"$ref":"#/components/schemas/RoomView"}}}},"400":{"$ref":"#/components/responses/BadRequest"\#
        },"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"40\#
        4":{"$ref":"#/components/responses/NotFound"},"406":{"$ref":"#/components/responses/NotAcceptable"},"429":{"\#
        $ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"\#
        #/components/responses/Unavailable"}}}
        },
        "/v1/rooms/{room}/events":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "get":{"operationId":"listEvents","summary":"A part of the room's \#
        log","parameters":[{"name":"after","in":"query","description":"The event behind which the part begins.","sch\#
        ema":{"type":"integer","minimum":0,"maximum":9007199254740991,"default":0}},{"name":"limit","in":"query","de\#
        scription":"Events in the answer, at most; above 1,000 as 1,000. An answer ends at 1 MiB too: go on after \#
        its last event until that is seq.","schema":{"type":"integer","minimum":1,"maximum":9007199254740991,"defaul\#
        t":1000}}],"responses":{"200":{"description":"Events, ascending.","content":{"application/json":{"schema":{"\#
        $ref":"#/components/schemas/EventList"}}}},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":\#
        "#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"404":{"$ref":"#/co\#
        mponents/responses/NotFound"},"406":{"$ref":"#/components/responses/NotAcceptable"},"429":{"$ref":"#/compone\#
        nts/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/res\#
        ponses/Unavailable"}}}
        },
        "/v1/rooms/{room}/pool":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "get":{"operationId":"listPool","summary":"A part of the room's pool","parameters":[{"$ref":"#/components/pa\#
        rameters/Text"},{"$ref":"#/components/parameters/Cursor"},{"name":"sort","in":"query","description":"title: \#
        the pool's order; votes: most votes first, then smallest requestedSeq, those without votes by title; added: \#
        by number.","schema":{"type":"string","enum":["title","votes","added"],"default":"title"}},{"name":"limit","\#
        in":"query","description":"Tracks in the answer, at most; above 500 as 500. There may be fewer, or none, \#
        although there is a next page.","schema":{"type":"integer","minimum":1,"maximum":9007199254740991,"default":\#
        100}}],"responses":{"200":{"description":"A page of the pool.","content":{"application/json":{"schema":{"$re\#
        f":"#/components/schemas/PoolPage"}}}},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":"#/c\#
        omponents/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"404":{"$ref":"#/compon\#
        ents/responses/NotFound"},"406":{"$ref":"#/components/responses/NotAcceptable"},"429":{"$ref":"#/components/\#
        responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/respons\#
        es/Unavailable"}}}
        },
        "/v1/rooms/{room}/commands":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "post":{"operationId":"sendCommand","summary":"Asks the room for something","parameters":[{"$ref":"#/compone\#
        nts/parameters/IdempotencyKey"}],"requestBody":{"required":true,"content":{"application/json":{"schema":{"$r\#
        ef":"#/components/schemas/CommandBody"}}}},"responses":{"200":{"description":"It was done, or held already."\#
        ,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Acknowledgement"}}}},"400":{"$ref":"#\#
        /components/responses/BadRequest"},"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"#/com\#
        ponents/responses/Forbidden"},"404":{"$ref":"#/components/responses/NotFound"},"406":{"$ref":"#/components/r\#
        esponses/NotAcceptable"},"409":{"$ref":"#/components/responses/Conflict"},"410":{"$ref":"#/components/respon\#
        ses/RoomClosed"},"413":{"$ref":"#/components/responses/TooLarge"},"415":{"$ref":"#/components/responses/Unsu\#
        pportedMediaType"},"422":{"$ref":"#/components/responses/LimitReached"},"429":{"$ref":"#/components/response\#
        s/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/responses/Unava\#
        ilable"}}}
        },
        "/v1/rooms/{room}/socket":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "get":{"operationId":"openRoomSocket","summary":"A WebSocket that is subscribed to the room","responses":{"1\#
        01":{"$ref":"#/components/responses/Socket"},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref\#
        ":"#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"404":{"$ref":"#/\#
        components/responses/NotFound"},"406":{"$ref":"#/components/responses/NotAcceptable"},"426":{"$ref":"#/compo\#
        nents/responses/UpgradeRequired"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/compo\#
        nents/responses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/socket":{
        "get":{"operationId":"openSocket","summary":"A WebSocket without a subscription","responses":{"101":{"$ref":\#
        "#/components/responses/Socket"},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":"#/compone\#
        nts/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"406":{"$ref":"#/components/r\#
        esponses/NotAcceptable"},"426":{"$ref":"#/components/responses/UpgradeRequired"},"429":{"$ref":"#/components\#
        /responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/respon\#
        ses/Unavailable"}}}
        }
        },
        "components":{
        "securitySchemes":{
        "token":{"type":"http","scheme":"bearer","description":"A session's token. It counts where the cookie is \#
        sent too."},
        "cookie":{"type":"apiKey","in":"cookie","name":"__Host-backline_session"}
        },
        "parameters":{
        "Room":{"name":"room","in":"path","required":true,"description":"The room's id, or its code, of which \#
        neither case nor the likeness of O and 0, I, L and 1 matters.","schema":{"type":"string","minLength":1}},
        "Text":{"name":"q","in":"query","description":"What must be a part, in either case. Of rooms their names; of\#
         tracks title, artist or album.","schema":{"type":"string","maxLength":80}},
        "Cursor":{"name":"cursor","in":"query","description":"The next of the page \#
        before.","schema":{"$ref":"#/components/schemas/Cursor"}},
        "IdempotencyKey":{"name":"Idempotency-Key","in":"header","description":"A retry with the same key gets the \#
        first outcome. No control characters.","schema":{"type":"string","minLength":1,"maxLength":128}}
        },
        "headers":{
        "SetCookie":{"description":"The session's cookie, or its \#
        end.","required":true,"schema":{"type":"string","pattern":"^__Host-backline_session="}},
        "RoomLocation":{"description":"The room's \#
        path.","required":true,"schema":{"type":"string","pattern":"^/v1/rooms/"}},
        "RetryAfter":{"description":"When trying again may help, in \#
        seconds.","required":true,"schema":{"type":"integer","minimum":1}}
        },
        "responses":{
        "Session":{"description":"The session.","headers":{"Set-Cookie":{"description":"The cookie once more, where \#
        the request was made with it and its session was extended.","schema":{"type":"string","pattern":"^__Host-bac\#
        kline_session="}}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/SessionView"}}}},
        "Socket":{"description":"The connection is a WebSocket (RFC 6455), with the subprotocol backline.v1.json \#
        where it was offered."},
        "BadRequest":{"description":"A value is wrong.","content":{"application/problem+json":{"schema":{"$ref":"#/c\#
        omponents/schemas/Problem","properties":{"status":{"const":400},"code":{"const":"bad_request"}}}}}},
        "Unauthorized":{"description":"There is no such session.","headers":{"WWW-Authenticate":{"description":"How \#
        to authenticate.","required":true,"schema":{"const":"Bearer"}}},"content":{"application/problem+json":{"sche\#
        ma":{"$ref":"#/components/schemas/Problem","properties":{"status":{"const":401},"code":{"const":"unauthorize\#
        d"}}}}}},
        "Forbidden":{"description":"Its role or origin does not allow it, or the session is \#
        banned.","headers":{"Retry-After":{"description":"When the ban ends by itself, in seconds.","schema":{"type"\#
        :"integer","minimum":1}}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Prob\#
        lem","properties":{"status":{"const":403},"code":{"enum":["forbidden","banned"]}}}}}},
        "NotFound":{"description":"The room, or what is named in it, is not there.","content":{"application/problem+\#
        json":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"status":{"const":404},"code":{"const":\#
        "not_found"}}}}}},
        "NotAcceptable":{"description":"Accept rules JSON out.","content":{"application/problem+json":{"schema":{"$r\#
        ef":"#/components/schemas/Problem","properties":{"status":{"const":406},"code":{"const":"not_acceptable"}}}}\#
        }},
        "Conflict":{"description":"The room's state does not allow it, the caller is no member, or the key was used \#
        for another request.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"\#
        ,"properties":{"status":{"const":409},"code":{"enum":["conflict","not_member"]}}}}}},
        "RoomClosed":{"description":"The room is closed, and the command is another than closeRoom with forget, \#
        which its owner may still give.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schem\#
        as/Problem","properties":{"status":{"const":410},"code":{"const":"room_closed"}}}}}},
        "TooLarge":{"description":"The body is over 256 KiB, or what the operator has set.","content":{"application/\#
        problem+json":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"status":{"const":413},"code":{\#
        "const":"too_large"}}}}}},
        "UnsupportedMediaType":{"description":"The body is not application/json.","content":{"application/problem+js\#
        on":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"status":{"const":415},"code":{"const":"u\#
        nsupported_media_type"}}}}}},
        "LimitReached":{"description":"There would be more than there may be (Protocol.md, section 5): open rooms of\#
         the session, tracks in the pool or in one command, queue entries, of a member or of all, members, or bans."\#
        ,"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"statu\#
        s":{"const":422},"code":{"const":"limit_reached"}}}}}},
        "UpgradeRequired":{"description":"The handshake is of another version than \#
        13.","headers":{"Sec-WebSocket-Version":{"description":"The version that is spoken.","required":true,"schema\#
        ":{"const":"13"}}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem","p\#
        roperties":{"status":{"const":426},"code":{"const":"bad_request"}}}}}},
        "RateLimited":{"description":"Too much came from this address or session.","headers":{"Retry-After":{"$ref":\#
        "#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/sc\#
        hemas/Problem","required":["retryAfterMs"],"properties":{"status":{"const":429},"code":{"const":"rate_limite\#
        d"}}}}}},
        "Internal":{"description":"The server could not do it; its log says why.","content":{"application/problem+js\#
        on":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"status":{"const":500},"code":{"const":"i\#
        nternal"}}}}}},
        "Unavailable":{"description":"The event log is out of reach, or the server stops. Nothing was changed.","hea\#
        ders":{"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"sch\#
        ema":{"$ref":"#/components/schemas/Problem","required":["retryAfterMs"],"properties":{"status":{"const":503}\#
        ,"code":{"const":"unavailable"}}}}}}
        },
        "schemas":{
        "Problem":{"description":"What went wrong (RFC 9457).","type":"object","required":["type","title","status","\#
        code","detail"],"properties":{"type":{"const":"about:blank"},"title":{"type":"string"},"status":{"type":"int\#
        eger"},"code":{"enum":["bad_request","method_not_allowed","not_acceptable","unsupported_media_type","unautho\#
        rized","forbidden","banned","not_found","not_member","conflict","room_closed","too_large","limit_reached","r\#
        ate_limited","internal","unavailable"]},"detail":{"type":"string"},"retryAfterMs":{"type":"integer","minimum\#
        ":1}}},
        "Status":{"type":"object","required":["status"],"properties":{"status":{"enum":["ok","ready"]}}},
        "Description":{"type":"object","additionalProperties":true,"required":["openapi","info","paths","components"\#
        ],"properties":{"openapi":{"const":"3.1.0"}}},
        "Number":{"description":"A number that the room has given \#
        out.","type":"integer","minimum":1,"maximum":9007199254740991},
        "Time":{"description":"Milliseconds since the Unix \#
        epoch.","type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},
        "Count":{"type":"integer","minimum":0,"maximum":9007199254740991},
        "Milliseconds":{"type":"integer","minimum":0,"maximum":9007199254740991},
        "PersonName":{"description":"Trimmed, with something to see in it and no invisible or reordering characters \#
        but those that names need (Protocol.md, section 5, Names).","type":"string","minLength":1,"maxLength":40,"pa\#
        ttern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180E\\u200B\\u2\#
        028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF0-\\uFFFB]*$"},
        "RoomName":{"description":"Like the name of a person.","type":"string","minLength":1,"maxLength":80,"pattern\#
        ":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180E\\u200B\\u2028-\\#
        \u202E\\u2060-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF0-\\uFFFB]*$"},
        "Source":{"description":"Trimmed; no control characters.","type":"string","minLength":1,"maxLength":40,"patt\#
        ern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$"},
        "Title":{"description":"Trimmed; no control characters.","type":"string","minLength":1,"maxLength":300,"patt\#
        ern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$"},
        "ArtworkUrl":{"description":"An absolute address of http or https, in any case, with a host.","type":"string\#
        ","minLength":1,"maxLength":2048,"pattern":"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s\\\\][^\\s\\\\]*$"},
        "ShownPersonName":{"description":"Logs of earlier releases may hold any \#
        characters.","type":"string","minLength":1,"maxLength":40},
        "ShownRoomName":{"description":"Logs of earlier releases may hold any \#
        characters.","type":"string","minLength":1,"maxLength":80},
        "ShownArtworkUrl":{"description":"Logs of earlier releases may hold any \#
        address.","type":"string","minLength":1,"maxLength":2048},
        "Cursor":{"description":"Opaque.","type":"string","minLength":1,"pattern":"^[0-9A-Za-z._-]+$"},
        "Coordinates":{"description":"WGS-84 degrees.","type":"object","required":["lat","lon"],"properties":{"lat":\#
        {"type":"number","minimum":-90,"maximum":90},"lon":{"type":"number","minimum":-180,"maximum":180}}},
        "Naming":{"type":"object","required":["name"],"properties":{"name":{"$ref":"#/components/schemas/PersonName"\#
        }}},
        "Session":{"type":"object","required":["id","name","createdAt","expiresAt"],"properties":{"id":{"type":"stri\#
        ng","format":"uuid"},"name":{"$ref":"#/components/schemas/ShownPersonName"},"createdAt":{"$ref":"#/component\#
        s/schemas/Time"},"expiresAt":{"$ref":"#/components/schemas/Time"}}},
        "SessionView":{"type":"object","required":["session"],"properties":{"session":{"$ref":"#/components/schemas/\#
        Session"}}},
        "NewSession":{"type":"object","required":["session","token"],"properties":{"session":{"$ref":"#/components/s\#
        chemas/Session"},"token":{"type":"string","pattern":"^bls_[A-Za-z0-9_-]{43}$"}}},
        "NewRoom":{"type":"object","required":["name"],"properties":{"name":{"$ref":"#/components/schemas/RoomName"}\#
        ,"location":{"$ref":"#/components/schemas/Coordinates"},"visibility":{"$ref":"#/components/schemas/Visibilit\#
        y"},"settings":{"$ref":"#/components/schemas/SettingsUpdate"}}},
        "Visibility":{"enum":["public","unlisted"]},
        "Role":{"enum":["owner","dj","guest"]},
        "Settings":{"type":"object","required":["queueMode","skipRatio","maxWaitingPerMember","repeatAfterPlays"],"p\#
        roperties":{"queueMode":{"enum":["dj","votes","fair"]},"skipRatio":{"type":"number","minimum":0,"maximum":1}\#
        ,"maxWaitingPerMember":{"type":"integer","minimum":0,"maximum":500},"repeatAfterPlays":{"type":"integer","mi\#
        nimum":0,"maximum":10000},"guestsMayAdd":{"type":"boolean"},"queueLocked":{"type":"boolean"},"slowModeMs":{"\#
        type":"integer","minimum":0,"maximum":3600000},"ownerAwayMs":{"type":"integer","minimum":0,"maximum":2592000\#
        000}}},
        "SettingsUpdate":{"description":"What is left out stays as it is; other names are a 400 that names them.","t\#
        ype":"object","additionalProperties":false,"properties":{"queueMode":{"enum":["dj","votes","fair"]},"skipRat\#
        io":{"type":"number","minimum":0,"maximum":1},"maxWaitingPerMember":{"type":"integer","minimum":0,"maximum":\#
        500},"repeatAfterPlays":{"type":"integer","minimum":0,"maximum":10000},"guestsMayAdd":{"type":"boolean"},"qu\#
        eueLocked":{"type":"boolean"},"slowModeMs":{"type":"integer","minimum":0,"maximum":3600000},"ownerAwayMs":{"\#
        type":"integer","minimum":0,"maximum":2592000000}}},
        "RoomView":{"type":"object","required":["room"],"properties":{"room":{"$ref":"#/components/schemas/Snapshot"\#
        },"you":{"$ref":"#/components/schemas/You"}}},
        "Snapshot":{"type":"object","required":["epoch","seq","time","state"],"properties":{"epoch":{"type":"string"\#
        },"seq":{"$ref":"#/components/schemas/Number"},"time":{"$ref":"#/components/schemas/Time"},"state":{"$ref":"\#
        #/components/schemas/State"},"presence":{"type":"object","required":["online"],"properties":{"online":{"$ref\#
        ":"#/components/schemas/Count"},"members":{"type":"array","items":{"$ref":"#/components/schemas/Number"}}}}}\#
        },
        "You":{"type":"object","required":["member","role","votes"],"properties":{"member":{"$ref":"#/components/sch\#
        emas/Number"},"role":{"$ref":"#/components/schemas/Role"},"votes":{"type":"array","items":{"$ref":"#/compone\#
        nts/schemas/Number"}}}},
        "State":{"type":"object","required":["id","code","name","createdAt","visibility","settings","members","pool"\#
        ,"requests","queue","playback","history"],"properties":{"id":{"type":"string","format":"uuid"},"code":{"$ref\#
        ":"#/components/schemas/Code"},"name":{"$ref":"#/components/schemas/ShownRoomName"},"createdAt":{"$ref":"#/c\#
        omponents/schemas/Time"},"closedAt":{"$ref":"#/components/schemas/Time"},"visibility":{"$ref":"#/components/\#
        schemas/Visibility"},"location":{"$ref":"#/components/schemas/Coordinates"},"settings":{"$ref":"#/components\#
        /schemas/Settings"},"members":{"type":"array","items":{"$ref":"#/components/schemas/Member"}},"pool":{"type"\#
        :"array","items":{"$ref":"#/components/schemas/Track"}},"requests":{"type":"array","items":{"$ref":"#/compon\#
        ents/schemas/Number"}},"queue":{"type":"array","items":{"$ref":"#/components/schemas/QueueEntry"}},"playback\#
        ":{"oneOf":[{"$ref":"#/components/schemas/Silence"},{"$ref":"#/components/schemas/OnAir"}]},"history":{"type\#
        ":"array","maxItems":50,"items":{"$ref":"#/components/schemas/HistoryEntry"}}}},
        "Code":{"type":"string","description":"Eight characters where the room was made unlisted, else six. It does \#
        not change with the visibility.","pattern":"^([0-9A-HJKMNP-TV-Z]{6}|[0-9A-HJKMNP-TV-Z]{8})$"},
        "Member":{"type":"object","required":["member","name","role","joinedAt"],"properties":{"member":{"$ref":"#/c\#
        omponents/schemas/Number"},"name":{"$ref":"#/components/schemas/ShownPersonName"},"role":{"$ref":"#/componen\#
        ts/schemas/Role"},"joinedAt":{"$ref":"#/components/schemas/Time"}}},
        "NewTrack":{"type":"object","required":["source","sourceId","title"],"properties":{"source":{"$ref":"#/compo\#
        nents/schemas/Source"},"sourceId":{"$ref":"#/components/schemas/Title"},"title":{"$ref":"#/components/schema\#
        s/Title"},"artist":{"$ref":"#/components/schemas/Title"},"album":{"$ref":"#/components/schemas/Title"},"dura\#
        tionMs":{"type":"integer","minimum":0,"maximum":604800000},"artworkUrl":{"$ref":"#/components/schemas/Artwor\#
        kUrl"}}},
        "Track":{"type":"object","required":["track","source","sourceId","title","addedBy","votes"],"properties":{"t\#
        rack":{"$ref":"#/components/schemas/Number"},"source":{"$ref":"#/components/schemas/Source"},"sourceId":{"$r\#
        ef":"#/components/schemas/Title"},"title":{"$ref":"#/components/schemas/Title"},"artist":{"$ref":"#/componen\#
        ts/schemas/Title"},"album":{"$ref":"#/components/schemas/Title"},"durationMs":{"type":"integer","minimum":0,\#
        "maximum":604800000},"artworkUrl":{"$ref":"#/components/schemas/ShownArtworkUrl"},"addedBy":{"$ref":"#/compo\#
        nents/schemas/Number"},"votes":{"$ref":"#/components/schemas/Count"},"requestedSeq":{"$ref":"#/components/sc\#
        hemas/Number"}}},
        "QueueEntry":{"type":"object","required":["entry","track"],"properties":{"entry":{"$ref":"#/components/schem\#
        as/Number"},"track":{"$ref":"#/components/schemas/Number"},"addedBy":{"$ref":"#/components/schemas/Number"}}\#
        },
        "Silence":{"type":"object","required":["status"],"properties":{"status":{"const":"stopped"}}},
        "OnAir":{"type":"object","required":["status","entry","track","startedAt","startedSeq","positionMs","atMs","\#
        skipVotes"],"properties":{"status":{"enum":["playing","paused"]},"entry":{"$ref":"#/components/schemas/Numbe\#
        r"},"track":{"$ref":"#/components/schemas/Number"},"startedBy":{"$ref":"#/components/schemas/Number"},"start\#
        edAt":{"$ref":"#/components/schemas/Time"},"startedSeq":{"$ref":"#/components/schemas/Number"},"positionMs":\#
        {"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"},"skipVotes":{"$ref"\#
        :"#/components/schemas/Count"}}},
        "HistoryEntry":{"type":"object","required":["entry","track","title","startedAt","endedAt","reason","playedMs\#
        "],"properties":{"entry":{"$ref":"#/components/schemas/Number"},"track":{"$ref":"#/components/schemas/Number\#
        "},"title":{"$ref":"#/components/schemas/Title"},"artist":{"$ref":"#/components/schemas/Title"},"startedAt":\#
        {"$ref":"#/components/schemas/Time"},"endedAt":{"$ref":"#/components/schemas/Time"},"reason":{"enum":["ended\#
        ","skipped","replaced"]},"playedMs":{"$ref":"#/components/schemas/Milliseconds"}}},
        "RoomList":{"type":"object","required":["rooms"],"properties":{"rooms":{"type":"array","items":{"$ref":"#/co\#
        mponents/schemas/RoomSummary"}},"next":{"$ref":"#/components/schemas/Cursor"}}},
        "NearbyList":{"type":"object","required":["rooms"],"properties":{"rooms":{"type":"array","maxItems":200,"ite\#
        ms":{"$ref":"#/components/schemas/RoomSummary","required":["location","distanceMeters"]}}}},
        "RoomSummary":{"type":"object","required":["id","code","name","listeners","createdAt"],"properties":{"id":{"\#
        type":"string","format":"uuid"},"code":{"$ref":"#/components/schemas/Code"},"name":{"$ref":"#/components/sch\#
        emas/ShownRoomName"},"location":{"$ref":"#/components/schemas/Coordinates"},"listeners":{"$ref":"#/component\#
        s/schemas/Count"},"djName":{"$ref":"#/components/schemas/ShownPersonName"},"nowPlaying":{"type":"object","re\#
        quired":["title"],"properties":{"title":{"$ref":"#/components/schemas/Title"},"artist":{"$ref":"#/components\#
        /schemas/Title"}}},"createdAt":{"$ref":"#/components/schemas/Time"},"distanceMeters":{"type":"number","minim\#
        um":0,"maximum":20037508}}},
        "PoolPage":{"type":"object","required":["epoch","seq","tracks"],"properties":{"epoch":{"type":"string"},"seq\#
        ":{"$ref":"#/components/schemas/Number"},"tracks":{"type":"array","maxItems":500,"items":{"$ref":"#/componen\#
        ts/schemas/Track"}},"next":{"$ref":"#/components/schemas/Cursor"}}},
        "EventList":{"type":"object","required":["epoch","events","seq"],"properties":{"epoch":{"type":"string"},"ev\#
        ents":{"type":"array","maxItems":1000,"items":{"$ref":"#/components/schemas/Event"}},"seq":{"$ref":"#/compon\#
        ents/schemas/Number"}}},
        "Event":{"description":"What has happened (Protocol.md, section 5).","oneOf":[{"$ref":"#/components/schemas/\#
        RoomCreated"},{"$ref":"#/components/schemas/RoomUpdated"},{"$ref":"#/components/schemas/RoomClosed"},{"$ref"\#
        :"#/components/schemas/MemberJoined"},{"$ref":"#/components/schemas/MemberLeft"},{"$ref":"#/components/schem\#
        as/MemberRenamed"},{"$ref":"#/components/schemas/RoleChanged"},{"$ref":"#/components/schemas/MemberBanned"},\#
        {"$ref":"#/components/schemas/MemberUnbanned"},{"$ref":"#/components/schemas/TracksAdded"},{"$ref":"#/compon\#
        ents/schemas/TracksRemoved"},{"$ref":"#/components/schemas/VoteCast"},{"$ref":"#/components/schemas/VoteWith\#
        drawn"},{"$ref":"#/components/schemas/VotesCleared"},{"$ref":"#/components/schemas/SkipVoteCast"},{"$ref":"#\#
        /components/schemas/EntryEnqueued"},{"$ref":"#/components/schemas/EntryRemoved"},{"$ref":"#/components/schem\#
        as/EntryMoved"},{"$ref":"#/components/schemas/PlaybackStarted"},{"$ref":"#/components/schemas/PlaybackPaused\#
        "},{"$ref":"#/components/schemas/PlaybackResumed"},{"$ref":"#/components/schemas/PlaybackSeeked"},{"$ref":"#\#
        /components/schemas/PlaybackStopped"},{"$ref":"#/components/schemas/EntryFinished"}]},
        "RoomCreated":{"type":"object","required":["seq","at","type","id","code","name","visibility","settings"],"pr\#
        operties":{"seq":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"c\#
        onst":"roomCreated"},"id":{"type":"string","format":"uuid"},"code":{"$ref":"#/components/schemas/Code"},"nam\#
        e":{"$ref":"#/components/schemas/ShownRoomName"},"visibility":{"$ref":"#/components/schemas/Visibility"},"se\#
        ttings":{"$ref":"#/components/schemas/Settings"},"location":{"$ref":"#/components/schemas/Coordinates"}}},
        "RoomUpdated":{"type":"object","required":["seq","at","type"],"properties":{"seq":{"$ref":"#/components/sche\#
        mas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"roomUpdated"},"name":{"$ref":"#/comp\#
        onents/schemas/ShownRoomName"},"location":{"$ref":"#/components/schemas/Coordinates"},"locationCleared":{"co\#
        nst":true},"visibility":{"$ref":"#/components/schemas/Visibility"},"settings":{"$ref":"#/components/schemas/\#
        Settings"},"by":{"$ref":"#/components/schemas/Number"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "RoomClosed":{"type":"object","required":["seq","at","type"],"properties":{"seq":{"$ref":"#/components/schem\#
        as/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"roomClosed"},"forget":{"const":true},\#
        "by":{"$ref":"#/components/schemas/Number"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "MemberJoined":{"type":"object","required":["seq","at","type","member","name","role"],"properties":{"seq":{"\#
        $ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberJoined\#
        "},"member":{"$ref":"#/components/schemas/Number"},"name":{"$ref":"#/components/schemas/ShownPersonName"},"r\#
        ole":{"$ref":"#/components/schemas/Role"}}},
        "MemberLeft":{"type":"object","required":["seq","at","type","member","reason"],"properties":{"seq":{"$ref":"\#
        #/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberLeft"},"membe\#
        r":{"$ref":"#/components/schemas/Number"},"reason":{"enum":["left","expired","kicked","banned","session_ende\#
        d"]},"by":{"$ref":"#/components/schemas/Number"},"note":{"$ref":"#/components/schemas/Reason"},"votes":{"typ\#
        e":"array","items":{"$ref":"#/components/schemas/Withdrawal"}},"skipVotes":{"$ref":"#/components/schemas/Cou\#
        nt"}}},
        "MemberRenamed":{"type":"object","required":["seq","at","type","member","name"],"properties":{"seq":{"$ref":\#
        "#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberRenamed"},"m\#
        ember":{"$ref":"#/components/schemas/Number"},"name":{"$ref":"#/components/schemas/ShownPersonName"}}},
        "RoleChanged":{"type":"object","required":["seq","at","type","member","role"],"properties":{"seq":{"$ref":"#\#
        /components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"roleChanged"},"membe\#
        r":{"$ref":"#/components/schemas/Number"},"role":{"$ref":"#/components/schemas/Role"},"by":{"$ref":"#/compon\#
        ents/schemas/Number"},"reason":{"type":"string","description":"Without by it is ownerLeft or ownerAway."}}},
        "MemberBanned":{"type":"object","required":["seq","at","type","member"],"properties":{"seq":{"$ref":"#/compo\#
        nents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberBanned"},"member":{"\#
        $ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"role":{"const":"dj","descr\#
        iption":"Where the member was a \#
        DJ."},"until":{"$ref":"#/components/schemas/Time"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "MemberUnbanned":{"type":"object","required":["seq","at","type","member"],"properties":{"seq":{"$ref":"#/com\#
        ponents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberUnbanned"},"member\#
        ":{"$ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"reason":{"$ref":"#/com\#
        ponents/schemas/Reason"}}},
        "TracksAdded":{"type":"object","required":["seq","at","type","tracks","by"],"properties":{"seq":{"$ref":"#/c\#
        omponents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"tracksAdded"},"tracks"\#
        :{"type":"array","items":{"$ref":"#/components/schemas/NumberedTrack"}},"by":{"$ref":"#/components/schemas/N\#
        umber"}}},
        "TracksRemoved":{"type":"object","required":["seq","at","type","tracks","by"],"properties":{"seq":{"$ref":"#\#
        /components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"tracksRemoved"},"tra\#
        cks":{"type":"array","items":{"$ref":"#/components/schemas/Number"}},"by":{"$ref":"#/components/schemas/Numb\#
        er"}}},
        "VoteCast":{"type":"object","required":["seq","at","type","track","by","votes","requestedSeq"],"properties":\#
        {"seq":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"vot\#
        eCast"},"track":{"$ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"votes":{\#
        "$ref":"#/components/schemas/Count"},"requestedSeq":{"$ref":"#/components/schemas/Number"}}},
        "VoteWithdrawn":{"type":"object","required":["seq","at","type","track","by","votes"],"properties":{"seq":{"$\#
        ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"voteWithdrawn\#
        "},"track":{"$ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"votes":{"$ref\#
        ":"#/components/schemas/Count"},"requestedSeq":{"$ref":"#/components/schemas/Number"}}},
        "VotesCleared":{"type":"object","required":["seq","at","type","track"],"properties":{"seq":{"$ref":"#/compon\#
        ents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"votesCleared"},"track":{"$r\#
        ef":"#/components/schemas/Number"}}},
        "SkipVoteCast":{"type":"object","required":["seq","at","type","entry","by","skipVotes"],"properties":{"seq":\#
        {"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"skipVoteCa\#
        st"},"entry":{"$ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"skipVotes":\#
        {"$ref":"#/components/schemas/Count"}}},
        "EntryEnqueued":{"type":"object","required":["seq","at","type","entry","track","index"],"properties":{"seq":\#
        {"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"entryEnque\#
        ued"},"entry":{"$ref":"#/components/schemas/Number"},"track":{"$ref":"#/components/schemas/Number"},"index":\#
        {"$ref":"#/components/schemas/Count"},"by":{"$ref":"#/components/schemas/Number"},"why":{"$ref":"#/component\#
        s/schemas/Why"}}},
        "EntryRemoved":{"type":"object","required":["seq","at","type","entry"],"properties":{"seq":{"$ref":"#/compon\#
        ents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"entryRemoved"},"entry":{"$r\#
        ef":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"why":{"$ref":"#/components/s\#
        chemas/Why"}}},
        "EntryMoved":{"type":"object","required":["seq","at","type","entry","index"],"properties":{"seq":{"$ref":"#/\#
        components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"entryMoved"},"entry":\#
        {"$ref":"#/components/schemas/Number"},"index":{"$ref":"#/components/schemas/Count"},"by":{"$ref":"#/compone\#
        nts/schemas/Number"}}},
        "PlaybackStarted":{"type":"object","required":["seq","at","type","entry","track","positionMs","atMs"],"prope\#
        rties":{"seq":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"cons\#
        t":"playbackStarted"},"entry":{"$ref":"#/components/schemas/Number"},"track":{"$ref":"#/components/schemas/N\#
        umber"},"positionMs":{"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"\#
        },"by":{"$ref":"#/components/schemas/Number"}}},
        "PlaybackPaused":{"type":"object","required":["seq","at","type","positionMs","atMs"],"properties":{"seq":{"$\#
        ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"playbackPause\#
        d"},"positionMs":{"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"},"b\#
        y":{"$ref":"#/components/schemas/Number"}}},
        "PlaybackResumed":{"type":"object","required":["seq","at","type","positionMs","atMs"],"properties":{"seq":{"\#
        $ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"playbackResu\#
        med"},"positionMs":{"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"},\#
        "by":{"$ref":"#/components/schemas/Number"}}},
        "PlaybackSeeked":{"type":"object","required":["seq","at","type","positionMs","atMs"],"properties":{"seq":{"$\#
        ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"playbackSeeke\#
        d"},"positionMs":{"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"},"b\#
        y":{"$ref":"#/components/schemas/Number"}}},
        "PlaybackStopped":{"type":"object","required":["seq","at","type"],"properties":{"seq":{"$ref":"#/components/\#
        schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"playbackStopped"},"by":{"$ref":"\#
        #/components/schemas/Number"}}},
        "EntryFinished":{"type":"object","required":["seq","at","type","entry","track","reason","startedAt","playedM\#
        s"],"properties":{"seq":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"ty\#
        pe":{"const":"entryFinished"},"entry":{"$ref":"#/components/schemas/Number"},"track":{"$ref":"#/components/s\#
        chemas/Number"},"reason":{"enum":["ended","skipped","replaced"]},"startedAt":{"$ref":"#/components/schemas/T\#
        ime"},"playedMs":{"$ref":"#/components/schemas/Milliseconds"},"by":{"$ref":"#/components/schemas/Number"}}},
        "Withdrawal":{"description":"What is left of a track's votes when its voter leaves.","type":"object","requir\#
        ed":["track","votes"],"properties":{"track":{"$ref":"#/components/schemas/Number"},"votes":{"$ref":"#/compon\#
        ents/schemas/Count"},"requestedSeq":{"$ref":"#/components/schemas/Number"}}},
        "Why":{"description":"By which numbers the room chose.","type":"object","required":["rule","rank"],"properti\#
        es":{"rule":{"enum":["votes","fair","repeatAfterPlays"]},"rank":{"type":"array","items":{"type":"integer"}},\#
        "turnOf":{"$ref":"#/components/schemas/Number"}}},
        "NumberedTrack":{"type":"object","required":["track","source","sourceId","title"],"properties":{"track":{"$r\#
        ef":"#/components/schemas/Number"},"source":{"$ref":"#/components/schemas/Source"},"sourceId":{"$ref":"#/com\#
        ponents/schemas/Title"},"title":{"$ref":"#/components/schemas/Title"},"artist":{"$ref":"#/components/schemas\#
        /Title"},"album":{"$ref":"#/components/schemas/Title"},"durationMs":{"type":"integer","minimum":0,"maximum":\#
        604800000},"artworkUrl":{"$ref":"#/components/schemas/ShownArtworkUrl"}}},
        "Acknowledgement":{"type":"object","required":["seq"],"properties":{"seq":{"$ref":"#/components/schemas/Numb\#
        er"},"result":{"description":"Of join the member, of addTracks the tracks, of enqueue the entry.","oneOf":[{\#
        "type":"object","required":["member"],"properties":{"member":{"$ref":"#/components/schemas/Number"}}},{"type\#
        ":"object","required":["tracks"],"properties":{"tracks":{"type":"array","items":{"$ref":"#/components/schema\#
        s/Number"}}}},{"type":"object","required":["entry"],"properties":{"entry":{"$ref":"#/components/schemas/Numb\#
        er"}}}]}}},
        "CommandBody":{"type":"object","required":["command"],"properties":{"command":{"$ref":"#/components/schemas/\#
        Command"}}},
        "Command":{"description":"Who may give it, and what comes of it, is in Protocol.md, section 5.","oneOf":[{"$\#
        ref":"#/components/schemas/BareCommand"},{"$ref":"#/components/schemas/JoinCommand"},{"$ref":"#/components/s\#
        chemas/RenameCommand"},{"$ref":"#/components/schemas/UpdateRoomCommand"},{"$ref":"#/components/schemas/Close\#
        RoomCommand"},{"$ref":"#/components/schemas/MemberCommand"},{"$ref":"#/components/schemas/SetRoleCommand"},{\#
        "$ref":"#/components/schemas/KickCommand"},{"$ref":"#/components/schemas/AddTracksCommand"},{"$ref":"#/compo\#
        nents/schemas/RemoveTracksCommand"},{"$ref":"#/components/schemas/TrackCommand"},{"$ref":"#/components/schem\#
        as/EnqueueCommand"},{"$ref":"#/components/schemas/EntryCommand"},{"$ref":"#/components/schemas/MoveCommand"}\#
        ,{"$ref":"#/components/schemas/PlayCommand"},{"$ref":"#/components/schemas/SeekCommand"},{"$ref":"#/componen\#
        ts/schemas/SyncDeckCommand"}]},
        "BareCommand":{"type":"object","required":["type"],"properties":{"type":{"enum":["leave","pause","resume","s\#
        kip"]}}},
        "JoinCommand":{"type":"object","required":["type"],"properties":{"type":{"const":"join"},"name":{"$ref":"#/c\#
        omponents/schemas/PersonName","description":"The session's name where it is left out."}}},
        "RenameCommand":{"type":"object","required":["type","name"],"properties":{"type":{"const":"rename"},"name":{\#
        "$ref":"#/components/schemas/PersonName"}}},
        "UpdateRoomCommand":{"type":"object","required":["type"],"properties":{"type":{"const":"updateRoom"},"name":\#
        {"$ref":"#/components/schemas/RoomName"},"location":{"$ref":"#/components/schemas/Coordinates"},"clearLocati\#
        on":{"type":"boolean"},"visibility":{"$ref":"#/components/schemas/Visibility"},"settings":{"$ref":"#/compone\#
        nts/schemas/SettingsUpdate"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "CloseRoomCommand":{"type":"object","required":["type"],"properties":{"type":{"const":"closeRoom"},"forget":\#
        {"type":"boolean"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "MemberCommand":{"type":"object","required":["type","member"],"properties":{"type":{"enum":["transferOwnersh\#
        ip","unban"]},"member":{"$ref":"#/components/schemas/Number"},"reason":{"$ref":"#/components/schemas/Reason"\#
        }}},
        "SetRoleCommand":{"type":"object","required":["type","member","role"],"properties":{"type":{"const":"setRole\#
        "},"member":{"$ref":"#/components/schemas/Number"},"role":{"enum":["dj","guest"]},"reason":{"$ref":"#/compon\#
        ents/schemas/Reason"}}},
        "KickCommand":{"type":"object","required":["type"],"oneOf":[{"required":["member"]},{"required":["members"]}\#
        ],"properties":{"type":{"const":"kick"},"member":{"$ref":"#/components/schemas/Number"},"members":{"type":"a\#
        rray","minItems":1,"maxItems":500,"uniqueItems":true,"items":{"$ref":"#/components/schemas/Number"},"descrip\#
        tion":"All of them are kicked, or none."},"ban":{"type":"boolean"},"durationMs":{"type":"integer","minimum":\#
        1,"maximum":31536000000,"description":"When the ban ends by itself; only with \#
        ban."},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "Reason":{"description":"Trimmed; no control characters.","type":"string","minLength":1,"maxLength":200,"pat\#
        tern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$"},
        "AddTracksCommand":{"type":"object","required":["type","tracks"],"properties":{"type":{"const":"addTracks"},\#
        "tracks":{"type":"array","minItems":1,"maxItems":500,"items":{"$ref":"#/components/schemas/NewTrack"}}}},
        "RemoveTracksCommand":{"type":"object","required":["type","tracks"],"properties":{"type":{"const":"removeTra\#
        cks"},"tracks":{"type":"array","minItems":1,"maxItems":500,"items":{"$ref":"#/components/schemas/Number"}}}}\#
        ,
        "TrackCommand":{"type":"object","required":["type","track"],"properties":{"type":{"enum":["vote","unvote"]},\#
        "track":{"$ref":"#/components/schemas/Number"}}},
        "EnqueueCommand":{"type":"object","required":["type","track"],"properties":{"type":{"const":"enqueue"},"trac\#
        k":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Count"}}},
        "EntryCommand":{"type":"object","required":["type","entry"],"properties":{"type":{"enum":["dequeue","finish"\#
        ,"voteSkip"]},"entry":{"$ref":"#/components/schemas/Number"}}},
        "MoveCommand":{"type":"object","required":["type","entry","to"],"properties":{"type":{"const":"move"},"entry\#
        ":{"$ref":"#/components/schemas/Number"},"to":{"$ref":"#/components/schemas/Count"}}},
        "PlayCommand":{"type":"object","required":["type"],"properties":{"type":{"const":"play"},"entry":{"$ref":"#/\#
        components/schemas/Number"}}},
        "SeekCommand":{"type":"object","required":["type","positionMs"],"properties":{"type":{"const":"seek"},"posit\#
        ionMs":{"type":"integer","minimum":0,"maximum":604800000}}},
        "SyncDeckCommand":{"type":"object","required":["type","queue","playback"],"properties":{"type":{"const":"syn\#
        cDeck"},"queue":{"type":"array","maxItems":500,"items":{"$ref":"#/components/schemas/DeckItem"}},"playback":\#
        {"oneOf":[{"$ref":"#/components/schemas/Silence"},{"type":"object","required":["status","positionMs","atMs"]\#
        ,"properties":{"status":{"enum":["playing","paused"]},"track":{"$ref":"#/components/schemas/Number"},"entry"\#
        :{"$ref":"#/components/schemas/Number"},"positionMs":{"type":"integer","minimum":0,"maximum":604800000},"atM\#
        s":{"$ref":"#/components/schemas/Time"}},"oneOf":[{"required":["track"]},{"required":["entry"]}]}]}}},
        "DeckItem":{"type":"object","properties":{"track":{"$ref":"#/components/schemas/Number"},"entry":{"$ref":"#/\#
        components/schemas/Number"}},"oneOf":[{"required":["track"]},{"required":["entry"]}]}
        }
        }
        }
        """#
}
